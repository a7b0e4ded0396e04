"""A visitor without a browser: opens pages, moves dials, presses buttons and uploads files over its own websocket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

T = TypeVar("T")
_PATIENCE = 120.0  # seconds
# Of a certificate that has signed itself.
UNVERIFIED = ssl.create_default_context()
UNVERIFIED.check_hostname, UNVERIFIED.verify_mode = False, ssl.CERT_NONE


def finish(work: Coroutine[Any, Any, T]) -> T:
    """What a visit comes to. It has a thread of its own: while a browser is open, the tests' one has a loop that runs."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@dataclass
class Visitor:
    """One session, and what it heard of its page."""

    address: str
    socket: ClientConnection
    page: str = ""
    query: str = ""
    session: str = ""
    widgets: dict[str, str] = field(default_factory=dict)  # ids by label, of buttons and places for files
    dials: str = ""
    answered: int = 0
    epsilon: float = 0.0  # what the dial shows
    figure: bool = False
    over: bool = False  # the run has ended
    offered: list[Any] = field(default_factory=list)  # places for an upload
    errors: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # in boxes, by all runs
    written: str = ""  # what the page has put behind the "?" of its address
    _moves: int = 0
    _file: UploadedFileInfo | None = None
    _file_widget: str = ""

    @classmethod
    @contextlib.asynccontextmanager
    async def at(cls, address: str) -> AsyncIterator[Visitor]:
        url = address.replace("http", "ws") + "/_stcore/stream"
        async with connect(
            url,
            max_size=None,
            subprotocols=["streamlit"],
            origin=address,
            open_timeout=_PATIENCE,
            ping_timeout=None,
            ssl=UNVERIFIED if address.startswith("https") else None,
        ) as socket:  # type: ignore[call-overload]
            yield cls(address, socket)

    async def open(self, page: str, query: str) -> None:
        """Go to a page and wait for the end of its run."""
        self.page, self.query, self.widgets, self.dials = page, query, {}, ""
        await self.rerun()

    async def rerun(self) -> None:
        message = self._rerun()
        self.over = False
        await self.socket.send(message.SerializeToString())
        await self._until(lambda: self.over)

    async def move(self, dial: str, value: float, *, moving: bool = False) -> float:
        """Move a dial: seconds until the figure and the dials' answer have come. While the hand is moving, the rest of
        the page is not waited for."""
        if not self.dials:
            return float("nan")
        self._moves += 1
        number, begin = self.answered + 1, time.perf_counter()
        message = self._rerun()
        event = {"name": dial, "text": str(value), "moving": moving, "number": number}
        states = message.rerun_script.widget_states.widgets
        states.add(id=self.dials, json_value="{}")
        states.add(
            id=_make_trigger_id(self.dials, "events"),
            json_trigger_value=json.dumps([{"event": "moved", "value": event}]),
        )
        self.figure = self.over = False
        await self.socket.send(message.SerializeToString())
        await self._until(lambda: self.answered >= number and self.figure)
        seconds = time.perf_counter() - begin
        if not moving:
            await self._until(lambda: self.over)
        return seconds

    async def press(self, label: str, wait: float) -> None:
        """Press a button and listen for at most so many seconds; nothing where the page, refused, has none."""
        if label not in self.widgets:
            return
        message = self._rerun()
        message.rerun_script.widget_states.widgets.add(id=self.widgets[label], trigger_value=True)
        self.over = False
        await self.socket.send(message.SerializeToString())
        with contextlib.suppress(TimeoutError):
            await self._until(lambda: self.over, wait)

    async def upload(self, label: str, name: str, data: bytes) -> None:
        """Upload a file to the place with this label, and wait for the end of the run that reads it."""
        if label not in self.widgets:
            self.errors.append(f"no place {label} for files on {self.page}")
            return
        self._file, self._file_widget = await self.send(name, data), self.widgets[label]
        await self.rerun()
        self._file = None

    async def send(self, name: str, data: bytes) -> UploadedFileInfo:
        """Have the server take a file, which no page reads yet."""
        request = BackMsg()
        request.file_urls_request.request_id, request.file_urls_request.session_id = "1", self.session
        request.file_urls_request.file_names.append(name)
        self.offered = []
        await self.socket.send(request.SerializeToString())
        await self._until(lambda: bool(self.offered))
        (place,) = self.offered
        await asyncio.to_thread(self._put, place.upload_url, name, data)
        return UploadedFileInfo(name=name, size=len(data), file_id=place.file_id, file_urls=place)

    async def forget_all_caches(self) -> None:
        message = BackMsg()
        message.clear_cache = True
        await self.socket.send(message.SerializeToString())

    def _put(self, url: str, name: str, data: bytes) -> None:
        border = "----visitor"
        body = (
            (
                f'--{border}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
                "Content-Type: application/octet-stream\r\n\r\n"
            ).encode()
            + data
            + f"\r\n--{border}--\r\n".encode()
        )
        headers = {"Content-Type": f"multipart/form-data; boundary={border}", **self.pass_of_uploads()}
        self._ask(url, body, headers, method="PUT").close()

    def pass_of_uploads(self) -> dict[str, str]:
        """Headers without which the server takes no upload."""
        with self._ask("/_stcore/health") as answer:
            given = [cookie.partition(";")[0] for cookie in answer.headers.get_all("Set-Cookie")]
        (token,) = [cookie for cookie in given if cookie.startswith("_streamlit_xsrf")]
        return {"Cookie": "; ".join([token, *self.place]), "X-Xsrftoken": token.partition("=")[2].strip('"')}

    @property
    def place(self) -> list[str]:
        """The cookie by which a proxy keeps this visitor with one of several servers; none without such a proxy."""
        response = self.socket.response
        given = response.headers.get_all("Set-Cookie") if response is not None else []
        return [cookie.partition(";")[0] for cookie in given if cookie.startswith("rr_place")]

    def _ask(
        self, path: str, body: bytes | None = None, headers: dict[str, str] | None = None, method: str = "GET"
    ) -> Any:
        request = urllib.request.Request(self.address + path, body, headers or {}, method=method)
        context = UNVERIFIED if self.address.startswith("https") else None
        return urllib.request.urlopen(request, timeout=_PATIENCE, context=context)

    def _rerun(self) -> BackMsg:
        message = BackMsg()
        message.rerun_script.page_name, message.rerun_script.query_string = self.page, self.query
        # Of it the page draws a QR code.
        message.rerun_script.context_info.url = f"{self.address}/{self.page}"
        if self._file is not None:
            state = message.rerun_script.widget_states.widgets.add(id=self._file_widget)
            state.file_uploader_state_value.uploaded_file_info.append(self._file)
        return message

    async def _until(self, done: Callable[[], bool], seconds: float = _PATIENCE) -> None:
        async with asyncio.timeout(seconds):
            while not done():
                raw = await self.socket.recv()
                self._hear(ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode()))

    def _hear(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.figure = False
            self.session = message.new_session.initialize.session_id or self.session
        elif kind == "script_finished":
            self.over = message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        elif kind == "page_info_changed":
            self.written = message.page_info_changed.query_string
        elif kind == "file_urls_response":
            self.offered = list(message.file_urls_response.file_urls)
        elif kind == "session_event" and message.session_event.HasField("script_compilation_exception"):
            self.errors.append(message.session_event.script_compilation_exception.message)
        elif kind == "delta":
            self._see(message.delta.new_element)

    def _see(self, element: Any) -> None:
        kind = element.WhichOneof("type")
        if kind == "plotly_chart" or element.bidi_component.bytes:
            self.figure = True
        elif kind == "exception":
            self.errors.append(f"{self.page}: {element.exception.type} {element.exception.message}")
        elif kind == "alert":
            self.said.append(element.alert.body)
        elif kind in ("button", "file_uploader"):
            widget = getattr(element, kind)
            self.widgets[widget.label] = widget.id
        elif kind == "bidi_component":
            data = json.loads(element.bidi_component.json or element.bidi_component.mixed.json or "{}")
            if data.get("dials") and not data["compact"]:
                self.dials, self.answered = element.bidi_component.id, data["answered"]
                self.epsilon = next((one["value"] for one in data["dials"] if one["name"] == "epsilon"), 0.0)


async def drag(address: str, path: str, sessions: int, seconds: float) -> tuple[list[float], int]:
    """Seconds from each move of epsilon to its figure, all sessions dragging at once, a move as soon as the last one's
    figure is there; and how many of them ended on another value than their last.

    Args:
        address: the server, http://127.0.0.1:port.
        path: the page with its query, without a slash.
        sessions: how many.
        seconds: that each drags.
    """
    start = asyncio.Barrier(sessions)  # nobody moves before everybody has the page
    page, _, query = path.partition("?")

    async def one(number: int) -> tuple[list[float], bool]:
        async with Visitor.at(address) as visitor:
            await visitor.open(page, query)
            await start.wait()
            end, times = time.perf_counter() + seconds, []
            while time.perf_counter() < end:
                value = _back_and_forth(number, len(times))
                times.append(await visitor.move("epsilon", value, moving=True))
            last = _back_and_forth(number, len(times))
            await visitor.move("epsilon", last)
            return times, visitor.epsilon != last

    every = await asyncio.gather(*(one(number) for number in range(sessions)))
    return [seconds for times, _ in every for seconds in times], sum(lost for _, lost in every)


def _back_and_forth(number: int, move: int) -> float:
    """Between 0.5 and 4.5, each session from another value on."""
    return round(0.5 + abs((number * 0.37 + move * 0.11) % 8 - 4), 2)
