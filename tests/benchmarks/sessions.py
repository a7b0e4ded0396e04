"""Sessions without a browser: each drags the dial of epsilon over its own websocket, a move as soon as the last one's
picture is there."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect


@dataclass
class Heard:
    """What a session heard of the page: the id of its dials and what they show, and whether a figure came.

    Attributes:
        url: of the page, as a browser tells it: of what is there a QR code is drawn.
    """

    url: str
    dials: str = ""
    answered: int = 0
    epsilon: float = 0.0
    figure: bool = False
    over: bool = False  # the run has ended


def drag(address: str, path: str, sessions: int, seconds: float) -> tuple[list[float], int]:
    """Seconds from each move to its figure, all sessions dragging at once; and how many of them ended on another value
    than their last.

    Args:
        address: the server, http://127.0.0.1:port.
        path: the page with its query, without a slash.
        sessions: how many.
        seconds: that each drags.
    """
    return asyncio.run(_all(address, path, sessions, seconds))


async def _all(address: str, path: str, sessions: int, seconds: float) -> tuple[list[float], int]:
    start = asyncio.Barrier(sessions)  # nobody moves before everybody has the page
    every = await asyncio.gather(
        *(_session(address, path, number, seconds, start) for number in range(sessions))
    )
    return [one for times, _ in every for one in times], sum(lost for _, lost in every)


async def _session(
    address: str, path: str, number: int, seconds: float, start: asyncio.Barrier
) -> tuple[list[float], bool]:
    url = address.replace("http", "ws") + "/_stcore/stream"
    page, _, query = path.partition("?")
    times: list[float] = []
    async with connect(url, max_size=None, subprotocols=["streamlit"], origin=address) as socket:  # type: ignore[list-item, arg-type]
        first = BackMsg()
        first.rerun_script.page_name, first.rerun_script.query_string = page, query
        heard = Heard(f"{address}/{page}")
        first.rerun_script.context_info.url = heard.url
        await socket.send(first.SerializeToString())
        while not (heard.over and heard.dials):
            await _listen(socket, heard)
        await start.wait()
        end, move = time.perf_counter() + seconds, 0
        while time.perf_counter() < end:
            move += 1
            times.append(await _move(socket, heard, page, query, move, epsilon(number, move), moving=True))
        last = epsilon(number, move + 1)
        await _move(socket, heard, page, query, move + 1, last, moving=False)
        heard.over = False
        while not heard.over:
            await _listen(socket, heard)
        return times, heard.epsilon != last


def epsilon(number: int, move: int) -> float:
    """Back and forth between 0.5 and 4.5, each session from another value on."""
    return round(0.5 + abs((number * 0.37 + move * 0.11) % 8 - 4), 2)


async def _move(
    socket: ClientConnection, heard: Heard, page: str, query: str, number: int, value: float, *, moving: bool
) -> float:
    """Send a move and listen until its figure and the dials' answer have come: seconds."""
    message = BackMsg()
    message.rerun_script.page_name, message.rerun_script.query_string = page, query
    message.rerun_script.context_info.url = heard.url
    move: dict[str, Any] = {"name": "epsilon", "text": str(value), "moving": moving, "number": number}
    message.rerun_script.widget_states.widgets.add(id=heard.dials, json_value="{}")
    message.rerun_script.widget_states.widgets.add(
        id=_make_trigger_id(heard.dials, "events"),
        json_trigger_value=json.dumps([{"event": "moved", "value": move}]),
    )
    begin, heard.figure = time.perf_counter(), False
    await socket.send(message.SerializeToString())
    while heard.answered < number or not heard.figure:
        await _listen(socket, heard)
    return time.perf_counter() - begin


async def _listen(socket: ClientConnection, heard: Heard) -> None:
    """Take in one message."""
    raw = await socket.recv()
    message = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
    kind = message.WhichOneof("type")
    if kind == "new_session":
        heard.figure = False
    elif kind == "script_finished":
        heard.over = message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
    elif kind == "delta":
        element = message.delta.new_element
        if element.bidi_component.bytes:
            heard.figure = True
        elif element.WhichOneof("type") == "bidi_component":
            data = json.loads(element.bidi_component.json or element.bidi_component.mixed.json)
            if not data["compact"]:
                heard.dials, heard.answered = element.bidi_component.id, data["answered"]
                (heard.epsilon,) = (dial["value"] for dial in data["dials"] if dial["name"] == "epsilon")
