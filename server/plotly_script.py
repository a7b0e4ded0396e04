"""Plotly's script for the main figure of a page, from the installed package.

Its address is that of a file of a component, so that Streamlit serves it however the app was started, but compresses it
anew for each visitor and lets no browser keep it. Under `app.py` `ROUTE` answers at the same address instead: compressed
once, kept by the browser until the version of the package changes.
"""

from __future__ import annotations

import asyncio
import gzip
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.components.v1 import declare_component

_FOLDER = files("plotly") / "package_data"
_NAME = "plotly.min.js"
_PATH = f"component/{__name__}.plotly/{_NAME}"
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}

# Relative to the address of any page.
ADDRESS = f"{_PATH}?v={version('plotly')}"

declare_component("plotly", path=str(_FOLDER))


@cache
def compressed() -> bytes:
    """The script compressed by gzip, about 1.5 MB."""
    return gzip.compress((_FOLDER / _NAME).read_bytes(), 6)


async def _answer(request: Request) -> Response:
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        body, encoding = await asyncio.to_thread(compressed), "gzip"
    else:
        body, encoding = await asyncio.to_thread((_FOLDER / _NAME).read_bytes), "identity"
    return Response(body, media_type="text/javascript", headers={**_KEPT, "Content-Encoding": encoding})


# Routes of an application do not know `server.baseUrlPath`: whatever stands before the address is taken for it.
ROUTE = Route(f"/{{before:path}}{_PATH}", _answer)
