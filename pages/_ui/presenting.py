"""Presenting a page to a room: its question, main figure and sentence in large letters, ε, N, and what moves on; nothing
else.

The setting belongs to the session: all pages share it, and their links carry it (``present=on``), see `link`. The key p
begins and ends it, see `dials`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import streamlit as st

from pages._ui import dials, figure_controls, guidance, link, sidebar, state, truth

_QUESTION, _FOOT = "2.3rem", "4.7rem"  # heights
_QR_CODE = 420  # pixels
_LETTERS = "22px"  # the smallest that are read from the back of a room

STYLE = f"""<style>
[data-testid="stMain"] {{overflow: hidden;}}
[data-testid="stMain"]::before {{content: none !important;}}
[data-testid="stHeader"], [data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] {{display: none;}}
[data-testid="stMainBlockContainer"] [role="tablist"] {{display: none;}}
[data-testid="stMainBlockContainer"] :is([data-testid="stElementContainer"], [data-testid="stPopover"]):not(
  .st-key-lead *, :has(h1), :has([data-testid="stAlert"])) {{display: none;}}
[data-testid="stMainBlockContainer"] h1 {{
  position: fixed; inset: 0 1.5rem auto; height: {_QUESTION}; padding: 0.2rem 0 0; font-size: 28px; z-index: 2;
}}
.st-key-lead {{position: fixed; inset: {_QUESTION} 1.5rem {_FOOT}; width: auto; height: auto; z-index: 1; gap: 0.3rem;}}
.st-key-lead > * {{width: 100%;}}
.st-key-lead .stBidiComponent {{min-height: 0 !important;}}
.st-key-lead > :last-child {{flex: none; padding-bottom: 1rem;}}
.st-key-lead [data-testid="stCaptionContainer"] {{opacity: 1;}}
.st-key-lead [data-testid="stCaptionContainer"] p {{font-size: {_LETTERS}; line-height: 1.35;}}
body [data-testid="stBottom"] {{display: block !important; z-index: 3;}}
.st-key-foot :is(.rr-full, .rr-full.rr-another), .st-key-present button [data-testid="stIconMaterial"] {{display: none;}}
.st-key-foot :is(.rr-dials, .rr-head label, .rr-why, button p, a :is(p, span)) {{font-size: {_LETTERS} !important;}}
body .st-key-foot .rr-off {{grid-template-columns: auto 1fr;}}
.st-key-foot .rr-why {{white-space: nowrap; overflow: hidden; text-overflow: ellipsis;}}
@media (min-width: 900px) {{
  .st-key-foot {{flex-direction: row; align-items: center; gap: 1.5rem; min-height: calc({_FOOT} - 1.2rem);}}
  .st-key-foot > :last-child {{flex: none; width: auto;}}
  .st-key-foot > :first-child {{flex: 1 1 0; min-width: 0;}}
  .st-key-foot .rr-dials {{grid-template-columns: 1fr 1fr; column-gap: 1.5rem;}}
  .st-key-foot .rr-dial {{grid-column: auto; grid-template-columns: auto 1fr 5.5em; column-gap: 0.5rem;}}
  .st-key-foot .rr-head label {{min-width: 0;}}
  .st-key-foot .rr-box {{width: 5.5em;}}
}}
@media (max-width: 899px) {{
  [data-testid="stMainBlockContainer"] h1 {{font-size: 20px; line-height: 1.2;}}
  .st-key-lead {{inset: 4rem 0.6rem 9.5rem;}}
  .st-key-lead > :first-child {{overflow: hidden;}}
  .st-key-lead .rr-figure {{width: 156.25%; height: 156.25%;}}
  .st-key-lead .svg-container {{zoom: 0.64;}}
  .st-key-lead [data-testid="stCaptionContainer"] p {{font-size: 16px;}}
  .st-key-foot :is(.rr-dials, .rr-head label, .rr-why, button p, a :is(p, span)) {{font-size: 16px !important;}}
  .st-key-foot {{gap: 0.4rem;}}
  .st-key-present {{flex-wrap: nowrap; gap: 0.3rem;}}
  .st-key-present button {{padding: 0.25rem 0.45rem;}}
  .st-key-present :is(button, button *) {{overflow: visible; white-space: nowrap;}}
  .st-key-present {{width: 100% !important;}}
  .st-key-present > *, .st-key-present > * * {{flex: none; width: max-content !important; min-width: 0 !important;}}
}}
</style>"""


def controls(grey: Mapping[str, str]) -> NoReturn:
    """Draw the dials, the buttons and the way on, at the foot of the window, and end the run; ``grey`` as in `dials`."""
    with st.bottom, st.container(key="foot"):
        dials.draw("dials_at_the_foot", "epsilon", "n", grey=grey, compact=True)
        buttons = st.container(
            key="present", horizontal=True, width="content", gap="small", vertical_alignment="center"
        )
    dials.wait_for_the_hand()
    figure_controls.draw_waiting()
    with buttons:
        sidebar.draw_new_draw(grey)
        truth.draw_button(brief=True)
        with st.popover("QR"), st.container(width=_QR_CODE):
            sidebar.draw_share()
        st.button("Exit", on_click=link.present, args=(False,), help="Back to the page. Keys: p or Escape.")
        guidance.next_presented()
    if not dials.moving():
        link.write()
    state.stop()
