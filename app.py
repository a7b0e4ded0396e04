"""The front door: one server for the home page and all others, by ``streamlit run app.py`` or ``python app.py``."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module

import streamlit as st

from server import middleware
from server.middleware import MIDDLEWARE
from server.room import ROUTE, SERVED

_AT_THE_END = 1.0  # seconds that requests have once the server is told to end


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Prepare what all pages share, so that the first visitor does not wait for it."""
    SERVED.set()
    preparing = asyncio.create_task(asyncio.to_thread(_prepare))
    compressing = asyncio.create_task(asyncio.to_thread(middleware.plotly_compressed))
    _end_soon()
    if not st.get_option("server.headless"):
        threading.Thread(target=_open_browser, daemon=True).start()
    yield
    await asyncio.gather(preparing, compressing)
    await asyncio.to_thread(import_module("server.jobs").end_all)


def _prepare() -> None:
    """While a first browser fetches the files of Streamlit; its first run waits for the rest."""
    gc.disable()  # nothing that is imported is garbage
    try:
        import_module("pages._ui")  # once there is the runtime that caches and components need
    finally:
        gc.enable()
    import_module("server.sessions").prepare()
    for not_of_the_first_figure in ("scipy.stats", "scipy.signal", "server.room.routes", "pages._ui.room"):
        import_module(not_of_the_first_figure)
    gc.freeze()


def _open_browser() -> None:
    """Show the home page to who started the server on a machine with a screen: Streamlit does so for scripts alone."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    host = st.get_option("server.address")
    here = "localhost" if host in (None, "0.0.0.0", "::") else host
    path = st.get_option("server.baseUrlPath").strip("/")
    webbrowser.open(f"{scheme}://{here}:{st.get_option('server.port')}/{path}")


def _end_soon() -> None:
    """Have the process end a second after it is told to: uvicorn would wait for each request that has no end, such as an
    upload that is stalled, or a download that nobody reads. Streamlit 1.67 has no setting for it."""
    if threading.current_thread() is not threading.main_thread():
        return  # who serves this application from another thread ends it, too
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)

        def told(number: int, frame: object, before: object = before) -> None:
            loop.call_soon_threadsafe(loop.call_later, _AT_THE_END, _end, number)
            if callable(before):
                before(number, frame)

        signal.signal(number, told)


def _end(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


# What takes long to import, as the mathematics, Arrow and the database of rooms, comes once the server listens.
app = st.App("home.py", lifespan=lifespan, middleware=MIDDLEWARE, routes=[middleware.PLOTLY_ROUTE, ROUTE])

if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        app.run()
