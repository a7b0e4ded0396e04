"""The class's room: people answer a question by randomized response from their phones.

`store` keeps rooms, questions and reports; `routes` is what phones ask for; `phone.html` is all that a phone loads.
"""

from __future__ import annotations

import asyncio
import threading
from importlib import import_module

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

# Set while a server answers phones: Streamlit alone, without `app.py`, does not.
SERVED = threading.Event()


class _Address(StringConvertor):
    """Of a room, behind whatever folders: routes of an application do not know `server.baseUrlPath`."""

    regex = "(?:[^/]+/)*r(?:/[^/]+(?:/(?:now|report|guess))?)?"


class _Phones:
    """Answers phones by `routes`, which is imported with the first: a server that listens early is a page seen early."""

    _router: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._router is None:
            self._router = (await asyncio.to_thread(import_module, "server.room.routes")).ROUTER
        await self._router(scope, receive, send)


register_url_convertor("room", _Address())
ROUTE = Route("/{address:room}", _Phones())
