"""Lesson: ten scenes that ask first, then show, then say why."""

from pages._ui import guidance, lesson
from pages._ui.frame import open_reading

open_reading("lesson", lesson.PROGRESS)
lesson.scene_or_end()
lesson.for_teachers()
guidance.next_page()
