"""The class's room, for its teacher and its projector; phones ask `server.room` for all of theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st
from markupsafe import escape

from pages._ui import chart, downloads, link, navigation, sidebar
from pages._ui.component import read
from pages._ui.link import Binding
from pages._ui.reports import session as reports
from rr_core.data import read_toml
from rr_core.figures import room as figures
from rr_core.figures.style import for_a_room
from rr_core.io.text import csv_bytes
from rr_core.plain_text import csv_columns, markdown
from rr_core.plan.solve import Unreachable, required_n
from rr_core.plan.targets import Target
from rr_core.rounding import counted, odds
from rr_core.words.phrases import FOLDED
from server.room import SERVED, store
from server.room.store import Question, Refused, Room, Unknown

_EVERY = 2.0  # seconds between two looks at a room
_EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
_OWN = "A question of your own"
_POINTS = Target("max", 0.1)
_PROJECTOR = f"<style>{read(('projector',), 'css')}</style>"


class Wording(NamedTuple):
    """A question with its answers, ready to be asked."""

    text: str
    answers: tuple[str, ...]


PREPARED = tuple(Wording(one["text"], tuple(one["answers"])) for one in read_toml("room.toml")["question"])


class Ticket(NamedTuple):
    """What a link says of a room: its code, and the key that only its teacher's link has."""

    code: str = ""
    key: str = ""


def _read(query: Mapping[str, str]) -> tuple[Ticket, tuple[str, ...]] | None:
    if query.keys().isdisjoint(("room", "key")):
        return None  # who comes back to the page finds the room again
    return Ticket(query.get("room", "").strip().upper()[:20], query.get("key", "")[:100]), ()


TICKET = Binding(
    "_room", Ticket(), _read, lambda ticket: {"room": ticket.code or None, "key": ticket.key or None}
)


def draw() -> None:
    """Draw what the link is about: opening a room, its controls, or its projector."""
    ticket = TICKET.current()
    with st.container():  # always there, so that what stands below stays as it is
        if wrong := st.session_state.pop("_room_wrong", ""):
            st.error(markdown(wrong), icon=":material/error:")
    if not ticket.code:
        _opening()
        return
    try:
        room = store.store().room(ticket.code).result()
        is_teacher = bool(ticket.key) and store.store().is_teacher(ticket.code, ticket.key)
    except Refused as refused:
        _elsewhere(ticket.code, refused)
        return
    if is_teacher:
        _control(room)
        return
    if ticket.key:
        st.warning("The key in this link is not this room's: here is what everybody sees.")
    _projector(room)


def _try(act: Callable[[], object]) -> None:
    """Do what a button says; what cannot be done is said at the top of the page."""
    try:
        act()
    except Refused as refused:
        st.session_state["_room_wrong"] = f"{refused}"


def _elsewhere(code: str, refused: Refused) -> None:
    """Where there is no such room, or no longer: say so, and look whether it comes back."""
    if st.session_state.get("_room_projected") == code:  # for all to see: nothing to press
        st.html(_PROJECTOR)
        told = "This room has ended." if isinstance(refused, Unknown) else f"{refused}"
        st.html(f'<h2 class="rr-asked">{escape(told)}</h2>')
    else:
        deleted = st.session_state.get("_room_deleted")
        if deleted is None or deleted[0].room.code != code:
            st.info(markdown(f"{refused}"))
        if deleted is not None:
            st.markdown(f"Room {deleted[0].room.code} and its reports are deleted.")
            st.button("Bring it back", on_click=_bring_back, help="Until you leave this page.")
        _another()

    @st.fragment(run_every=2 * _EVERY)
    def look() -> None:
        try:
            store.store().room(code).result()
        except Refused:
            return
        st.rerun()

    look()


def _another() -> None:
    st.button("Open another room", on_click=_try, args=(partial(TICKET.change, Ticket()),))


# Opening


def _opening() -> None:
    st.markdown(
        "**Only what the coin says ever leaves a phone; together the reports still tell the shares.** Open a room, show "
        "its code, and watch what can be learned from everybody's reports.\n\n"
        "**Try:** open a room and join it with your own phone."
    )
    asked, epsilon = _question("open")
    st.button("Open a room", type="primary", on_click=_open, args=(asked, epsilon))
    with st.expander("What if somebody lies anyway? Could the server know?"):
        st.markdown(FOLDED["room"])
    st.caption(
        "Kept on this server: the question, the reports and the guesses, without who sent them, until you delete the "
        "room or 30 days after its last report. No true answer, no address, no name."
    )


def _question(key: str, before: Question | None = None, spent: float = 0.0) -> tuple[Wording, float]:
    """Widgets for a question, its answers and ε, and what they cost after ``spent``; ``before`` can be asked again."""
    choices = {f"Again: {before.text}": Wording(before.text, before.answers)} if before else {}
    choices |= {asked.text: asked for asked in PREPARED} | {_OWN: Wording("", ("Yes", "No"))}
    chosen = st.selectbox("Question", list(choices), key=f"room_{key}_choice")
    asked = choices[chosen]
    left, right = st.columns([3, 2], gap="large")
    with left:
        if chosen == _OWN:
            text = st.text_input(
                "Your question",
                key=f"room_{key}_text",
                max_chars=store.LONGEST_QUESTION,
            )
        else:
            text = asked.text
        lines = st.text_area(
            f"Answers, one in each line ({store.FEWEST_ANSWERS} to {store.MOST_ANSWERS})",
            "\n".join(asked.answers),
            key=f"room_{key}_answers_{chosen}",
            height=128,
        )
    answers = tuple(line for line in lines.splitlines() if line.strip())
    with right:
        epsilon = st.select_slider("Privacy ε", _EPSILONS, value=1.0, key=f"room_{key}_epsilon")
        st.markdown(_cost(len(answers), epsilon, spent))
    return Wording(text, answers), epsilon


def _cost(k: int, epsilon: float, spent: float) -> str:
    """What a report gives away, and how many people are needed, in words."""
    text = f"Whoever sees a report may raise their odds for an answer at most **{odds(epsilon)}-fold**."
    if store.FEWEST_ANSWERS <= k <= store.MOST_ANSWERS:
        needed = required_n(_POINTS, k, epsilon, None)
        if not isinstance(needed, Unreachable):
            text += (
                f"\n\nFor every share within **10 points** of the truth, with 95% chance: **{needed:,} people**. Fewer "
                "people: wider intervals, which are shown."
            )
    if spent:
        text += (
            f"\n\nWho has answered all so far and answers this, too, gives away ε = {spent:g} + {epsilon:g}: odds at "
            f"most {odds(spent + epsilon)}-fold, for all answers together. Phones say what their own come to."
        )
    return text


def _open(asked: Wording, epsilon: float) -> None:
    def opened() -> None:
        TICKET.change(Ticket(*store.store().open_room(asked.text, asked.answers, epsilon)))
        st.session_state.pop("_room_deleted", None)

    _try(opened)


# The teacher's controls


def _control(room: Room) -> None:
    code, now = room.code, room.now
    for warning in filter(None, (store.warning(), _who_cannot_join())):
        st.warning(warning, icon=":material/info:")
    st.markdown(
        f"**Room {code}: {markdown(now.text)}** This page is yours alone: its link holds the room's key. The class sees "
        "the projector's page and their phones."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.link_button("Projector's page", f"room?room={code}", icon=":material/cast:")
        st.link_button("A phone's page", f"r/{code}", icon=":material/smartphone:")
        with st.popover("Control it from your phone"):
            st.markdown("**Not for the class:** whoever has this code controls the room.")
            if (address := link.address()) is not None:
                st.image(sidebar.qr_code(address), width=260, alt="QR code of the address below")
                st.code(address, language=None, wrap_lines=True)
    act = store.store()
    first, last = figures.first_step(_asked(now)), len(figures.STEPS)
    step = max(now.step + 1, first)
    ahead = f"Next: {figures.STEPS[step - 1]}." if step <= last else "All is revealed."
    if now.is_open and step <= last:
        ahead += " The question is still open: close it first, or what is shown sways who has not answered."
    if not now.n:
        ahead = "Nobody has reported yet."
    with st.container(horizontal=True, vertical_alignment="center"):
        of_close, kind = ("primary", "secondary") if now.is_open else ("secondary", "primary")
        why = "Take no more reports." if now.is_open else "It takes no more reports already."
        _do("Close", partial(act.set_open, code, False), why, not now.is_open, of_close)
        if not now.is_open:
            _do("Open again", partial(act.set_open, code, True), "Take reports again.")
        _do("Reveal", partial(act.reveal, code, step), ahead, not now.n or step > last, kind=kind)
        if now.step > first:
            _do("Back", partial(act.reveal, code, now.step - 1), "Show the step before.")
    st.caption(ahead)
    _live(code, _control_view)
    with st.expander("The next question"):
        if not now.n:
            st.caption("Nobody has reported yet: another question takes the place of this one.")
        asked, epsilon = _question("next", now, sum(one.epsilon for one in room.questions if one.n))
        _do("Next question", partial(act.ask, code, asked.text, asked.answers, epsilon))
    with st.expander("Count raised hands, to compare (harmless questions only)"):
        with st.container(horizontal=True):
            hands = [
                st.number_input(
                    markdown(answer),
                    0,
                    100_000,
                    key=f"room_hands_{now.number}_{place}",
                    width=150,
                )
                for place, answer in enumerate(now.answers)
            ]
        _do("Use as the truth", partial(act.count_hands, code, hands))
        if now.hands is not None:
            st.caption(f"In use: {', '.join(f'{number:,}' for number in now.hands)}. Drawn from Inv on.")
    _questions(room)
    # Not at the left, where the button was that opened the room: who presses twice would delete it.
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Delete",
            on_click=_delete,
            args=(room,),
            help="The room with all its reports; it can be brought back.",
        )
        _another()


def _do(
    label: str,
    act: Callable[[], object],
    tooltip: str | None = None,
    grey: bool = False,
    kind: Any = "secondary",
) -> None:
    """A button that changes the room."""
    st.button(label, on_click=_try, args=(act,), help=tooltip, disabled=grey, type=kind)


def _control_view(room: Room) -> None:
    now = room.now
    many = len(now.guesses)
    guesses = f", {many:,} guess{'es' if many > 1 else ''}" if many else ""
    st.markdown(f"**{counted(now.n, 'report')}**{guesses} · {_state(now)}")
    if now.step:
        chart.show(figures.revealed(_asked(now), now.step), "room")


def _state(question: Question) -> str:
    takes = "the question is open" if question.is_open else "the question is closed"
    return (
        f"{takes}; revealed: {figures.STEPS[question.step - 1]}"
        if question.step
        else f"{takes}; nothing is revealed"
    )


def _asked(question: Question) -> figures.Asked:
    return figures.Asked(
        question.answers, question.mechanism, question.counts, question.guesses, question.hands
    )


def _live(code: str, view: Callable[[Room], None]) -> None:
    """Show a room as it is now, again and again; all of the page anew where its question or state is another."""
    drawn: list[tuple[object, ...]] = []

    @st.fragment(run_every=_EVERY)
    def look() -> None:
        try:
            room = store.store().room(code).result()
        except Refused:
            st.rerun()
        now = room.now
        as_it_is = (now.number, now.is_open, now.step, now.hands, bool(now.n), bool(now.guesses))
        if drawn and drawn[0] != as_it_is:
            st.rerun()
        drawn[:] = [as_it_is]
        view(room)

    look()


def _questions(room: Room) -> None:
    """What there is to take away of every question with something revealed or over: counts, and where they lead."""
    for question in reversed(room.questions):
        if not question.n or (question.is_open and not question.step):
            continue
        with st.container(border=True):
            st.markdown(
                f"**{markdown(question.text)}** {counted(question.n, 'report')}, ε = {question.epsilon:g}"
            )
            with st.container(horizontal=True):
                downloads.button(
                    "Counts (CSV)",
                    partial(_csv, question, True),
                    "room_counts.csv",
                    f"room_csv_{question.number}",
                    width="content",
                )
                lab = {
                    "dist": "zipf",
                    "k": str(len(question.answers)),
                    "eps": f"{question.epsilon:g}",
                    "n": str(question.n),
                }
                navigation.link_to(
                    "pages/estimators.py", "Same K, ε and N in the lab", ":material/balance:", lab
                )
                if st.button("Analyse as your reports", key=f"room_analyse_{question.number}"):
                    reports.use_counts(
                        _csv(question, False), question.mechanism, f"Room {room.code}: {question.text}"
                    )
                    st.switch_page("pages/your_reports.py")


def _csv(question: Question, for_spreadsheets: bool) -> bytes:
    columns = {"category": list(question.answers), "count": list(question.counts)}
    return csv_bytes(csv_columns(columns) if for_spreadsheets else columns)


def _delete(room: Room) -> None:
    def deleted() -> None:
        st.session_state["_room_deleted"] = store.store().delete(room.code), TICKET.current()

    _try(deleted)


def _bring_back() -> None:
    def brought() -> None:
        kept, ticket = st.session_state["_room_deleted"]
        store.store().bring_back(kept)
        st.session_state.pop("_room_deleted")
        TICKET.change(ticket)

    _try(brought)


# The projector


def _projector(room: Room) -> None:
    st.html(_PROJECTOR)
    st.session_state["_room_projected"] = room.code
    _live(room.code, _projector_view)


def _projector_view(room: Room) -> None:
    now, address = room.now, _address_of_phones(room.code)
    if now.step:
        st.html(f'<h2 class="rr-asked rr-told">{escape(now.text)}</h2>')
        chart.show(for_a_room(figures.revealed(_asked(now), now.step)), "room_projected")
        return
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        answers = "".join(f"<li>{escape(answer)}</li>" for answer in now.answers)
        again = any(one.text == now.text and one.n for one in room.questions if one.number != now.number)
        cost = '<p class="rr-place">Asked again: a second report costs its ε once more.</p>' if again else ""
        joins = f"Join at {escape(address.partition('://')[2])}" if address else ""
        st.html(
            f'<h2 class="rr-asked">{escape(now.text)}</h2><ul class="rr-answers">{answers}</ul>{cost}'
            f'<p class="rr-code" aria-label="Code of this room">{room.code}</p><p class="rr-place">{joins}</p>'
        )
    with right:
        if address is not None and now.is_open:
            st.image(sidebar.qr_code(address), width="stretch", alt="QR code of the address to join")
        people = "person has" if now.n == 1 else "people have"
        closed = "" if now.is_open else " The question is closed."
        st.html(f'<p class="rr-how-many"><b>{now.n:,}</b> {people} answered.{closed}</p>')


def _who_cannot_join() -> str:
    """Why phones will not reach this server, as far as it knows; else ""."""
    if not SERVED.is_set():
        return "Phones cannot join: this server was not started by app.py, and answers pages alone."
    host = urlsplit(st.context.url or "").hostname or ""
    if host == "localhost" or host.startswith("127."):
        return f"Phones cannot open “{host}”: open this page by the address that this computer has in the network."
    return ""


def _address_of_phones(code: str) -> str | None:
    here = st.context.url
    return None if here is None else f"{here.rpartition('/')[0]}/r/{code}"
