"""Room: the people present answer by randomized response from their phones, and watch what can be learned."""

from pages._ui import room
from pages._ui.frame import open_reading

open_reading("room", room.TICKET)
room.draw()
