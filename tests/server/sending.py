"""An upload as a sender pleases: in pieces, with pauses, and with a length that it may not have."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.benchmarks.visitor import Visitor

MEGABYTE = 2**20
_BORDER = "----sender"
_HEAD = (
    f'--{_BORDER}\r\nContent-Disposition: form-data; name="a.csv"; filename="a.csv"\r\n'
    "Content-Type: application/octet-stream\r\n\r\n"
).encode()
_TAIL = f"\r\n--{_BORDER}--\r\n".encode()


@dataclass
class Sender:
    """An upload that has begun: its request is sent, and of the file nothing."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def begin(cls, visitor: Visitor, size: int, file: str = "1") -> Sender:
        """Announce a file of so many bytes, for the session of a visitor."""
        where = urlsplit(visitor.address)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        headers = await asyncio.to_thread(visitor.pass_of_uploads)
        headers["Content-Type"] = f"multipart/form-data; boundary={_BORDER}"
        headers["Content-Length"] = str(len(_HEAD) + size + len(_TAIL))
        lines = [f"PUT /_stcore/upload_file/{visitor.session}/{file} HTTP/1.1", f"Host: {where.netloc}"]
        lines += [f"{name}: {text}" for name, text in headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        writer.write(_HEAD)
        await writer.drain()
        return cls(reader, writer)

    async def send(self, data: bytes) -> None:
        """Send a part of the file, as soon as the server takes it."""
        self.writer.write(data)
        await self.writer.drain()

    async def end(self) -> int:
        """Send the end of the body; the status of the answer."""
        self.writer.write(_TAIL)
        return await self.status()

    async def status(self) -> int:
        """The status of the answer when it comes; 0 where the connection ends without one."""
        try:
            await self.writer.drain()
            line = await self.reader.readline()
        except ConnectionError:
            return 0
        return int(line.split()[1]) if line else 0

    async def leave(self) -> None:
        """Cut the connection."""
        self.writer.transport.abort()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()
