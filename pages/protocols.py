"""Protocols: what changes when reports are not made by k-RR."""

from pages._ui import guidance
from pages._ui.frame import open_page
from pages._ui.parts import Parts
from pages._ui.protocols import channel

PARTS = Parts("protocols", {"channel": "Any channel"})
page = open_page("protocols", "What if people report in another way?", channel.SETTINGS, PARTS.binding)
parts = PARTS.tabs()
with parts["channel"]:
    channel.section(page)
guidance.next_page()
