"""The lesson: the survey of the home page's story, and ten scenes that ask first, then show, then say why."""

from rr_core.lesson import scenes as _scenes  # noqa: F401  They enter themselves in SCENES.
from rr_core.lesson.scene import (
    EPSILONS,
    PEOPLE,
    SCENES,
    SEED,
    Lesson,
    LessonStep,
    Posed,
    Scene,
    lesson,
    mean_errors,
)

__all__ = [
    "EPSILONS",
    "PEOPLE",
    "SCENES",
    "SEED",
    "Lesson",
    "LessonStep",
    "Posed",
    "Scene",
    "lesson",
    "mean_errors",
]
