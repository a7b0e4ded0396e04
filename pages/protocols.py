"""Protocols: what changes when reports are not made by k-RR."""

from pages._ui import guidance, memory, messages
from pages._ui.frame import open_page
from pages._ui.parts import Parts
from pages._ui.protocols import channel, over_time, unary

PARTS = Parts(
    "protocols", {"channel": "Any channel", "unary": "Unary encoding, RAPPOR", "time": "Day after day"}
)
page = open_page(
    "protocols",
    "What if people report in another way?",
    channel.SETTINGS,
    unary.ENCODING,
    over_time.SETTINGS,
    PARTS.binding,
)
parts = PARTS.tabs()
sections = {"channel": channel.section, "unary": unary.section, "time": over_time.section}
for key, part in parts.items():
    if part.open:
        with part:
            try:
                sections[key](page)
            except memory.NoRoom as error:  # before any figure
                messages.show([f"{error}"])
                page.controls()
guidance.next_page()
