"""Protocols: what changes when reports are not made by k-RR."""

from pages._ui import guidance, link
from pages._ui.frame import Parts, open_page
from pages._ui.protocols import channel, over_time, posterior, side_by_side, unary
from server import sessions

PARTS = Parts(
    "protocols",
    {
        "channel": "Any channel",
        "unary": "Unary encoding, RAPPOR",
        "compare": "Side by side",
        "posterior": "Prior and posterior",
        "time": "Day after day",
    },
)
SECTIONS = {
    "channel": channel.section,
    "unary": unary.section,
    "compare": side_by_side.section,
    "posterior": posterior.section,
    "time": over_time.section,
}
page = open_page(
    "protocols",
    channel.SETTINGS,
    unary.ENCODING,
    posterior.PRIOR,
    over_time.SETTINGS,
    PARTS.binding,
)
for key, part in PARTS.tabs().items():
    if part.open:
        with part:
            try:
                SECTIONS[key](page)
            except sessions.NoRoom as error:  # before any figure
                link.show_notes([f"{error}"])
                page.controls()
guidance.next_page()
