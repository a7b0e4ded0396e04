"""Sessions without a browser: each moves the slider back to back over its own websocket."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

LABEL = "Privacy ε"


@dataclass
class Run:
    """One run of the page as a session saw it: seconds until the first figure, its slider, its page."""

    to_figure: float | None = None
    slider: Any = None
    page_hash: str = ""


def move(address: str, path: str, sessions: int, moves: int) -> list[float]:
    """Seconds from each move to its first figure, all sessions moving at once.

    Args:
        address: the server, http://127.0.0.1:port.
        path: the page with its query, without a slash.
    """
    return asyncio.run(_all(address, path, sessions, moves))


async def _all(address: str, path: str, sessions: int, moves: int) -> list[float]:
    start = asyncio.Barrier(sessions)  # nobody moves before everybody has the page
    every = [_session(address, path, number, moves, start) for number in range(sessions)]
    return [seconds for one in await asyncio.gather(*every) for seconds in one]


async def _session(address: str, path: str, number: int, moves: int, start: asyncio.Barrier) -> list[float]:
    url = address.replace("http", "ws") + "/_stcore/stream"
    page, _, query = path.partition("?")
    times = []
    async with connect(url, max_size=None, subprotocols=["streamlit"], origin=address) as socket:  # type: ignore[list-item, arg-type]
        first = BackMsg()
        first.rerun_script.page_name, first.rerun_script.query_string = page, query
        run = await _run(socket, first)
        await start.wait()
        for i in range(moves):
            message = BackMsg()
            message.rerun_script.page_name = page
            message.rerun_script.query_string = query
            _set(message.rerun_script.widget_states.widgets.add(), run.slider, number * 7 + i * 3 + 5)
            slider, run = run.slider, await _run(socket, message)
            run.slider = run.slider or slider
            if run.to_figure is None:
                raise RuntimeError(f"a move on /{page} brought no figure")
            times.append(run.to_figure)
    return times


def _set(widget: Any, slider: Any, step: int) -> None:
    """Move to one of some dozens of positions, another one each time."""
    widget.id = slider.id
    if slider.options:
        widget.string_array_value.data.append(slider.options[step % len(slider.options)])
    else:
        widget.double_array_value.data.append((step % 99) / 10 + 0.1)


async def _run(socket: ClientConnection, message: BackMsg) -> Run:
    """Send a message and listen until the run that it starts is over."""
    begin, run = time.perf_counter(), Run()
    await socket.send(message.SerializeToString())
    while True:
        raw = await socket.recv()
        heard = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
        kind = heard.WhichOneof("type")
        if kind == "new_session":
            run.page_hash = heard.new_session.page_script_hash
        elif kind == "delta":
            element = heard.delta.new_element
            if element.WhichOneof("type") == "slider" and element.slider.label == LABEL:
                run.slider = element.slider
            if element.WhichOneof("type") == "plotly_chart" and run.to_figure is None:
                run.to_figure = time.perf_counter() - begin
        elif kind == "script_finished":
            return run
