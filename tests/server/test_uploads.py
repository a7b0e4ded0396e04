"""Uploads to a server whose others stall, or whose disk is full."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import AsyncExitStack

import pytest

from tests.benchmarks.visitor import Visitor, finish
from tests.browser.server import Started
from tests.server.sending import MEGABYTE, Sender

COUNTS = b"category,count\nyes,640\nno,360\n"
# A row that is right, however long the file is.
ROW = b"yes\n" * (MEGABYTE // 4)


async def whole(visitor: Visitor, megabytes: int) -> int:
    """Upload so much; the status of the answer."""
    sender = await Sender.begin(visitor, megabytes * MEGABYTE, "whole")
    try:
        for _ in range(megabytes):
            await sender.send(ROW)
        return await sender.end()
    except ConnectionError:
        return 0
    finally:
        await sender.leave()


def test_clients_that_announce_much_and_send_nothing_keep_nobody_out(app: Started) -> None:
    async def visit() -> None:
        async with AsyncExitStack() as after:
            idle = [await after.enter_async_context(Visitor.at(app.address)) for _ in range(2)]
            for visitor in idle:
                await visitor.open("your_reports", "k=12")
                sender = await Sender.begin(visitor, 199 * MEGABYTE)
                after.push_async_callback(sender.leave)
            begin = time.monotonic()
            async with Visitor.at(app.address) as other:
                await other.open("your_reports", "k=12")
                assert await whole(other, 20) == 204
            assert time.monotonic() - begin < 15  # it was 20 seconds and a refusal

    finish(visit())


def test_an_upload_that_its_sender_cuts_off_harms_nobody_and_fills_no_log(app: Started) -> None:
    async def visit() -> None:
        async with Visitor.at(app.address) as visitor:
            await visitor.open("your_reports", "k=12")
            sender = await Sender.begin(visitor, 20 * MEGABYTE, "cut")
            await sender.send(ROW)
            await sender.leave()
            assert await whole(visitor, 2) == 204

    finish(visit())
    assert "Traceback" not in app.log.read_text("utf-8")


@pytest.mark.slow
def test_clients_that_stall_in_the_middle_make_way(app: Started) -> None:
    async def visit() -> None:
        async with AsyncExitStack() as after:
            senders = []
            for name in "abc":
                visitor = await after.enter_async_context(Visitor.at(app.address))
                await visitor.open("your_reports", "k=12")
                sender = await Sender.begin(visitor, 199 * MEGABYTE, name)
                after.push_async_callback(sender.leave)
                for _ in range(125):
                    await sender.send(ROW)
                senders.append((visitor, sender))
            async with Visitor.at(app.address) as other:
                await other.open("your_reports", "k=12")
                assert await whole(other, 120) == 204
            # One of them had to go, and its visitor is told.
            async with asyncio.timeout(20):
                statuses = [asyncio.create_task(sender.status()) for _, sender in senders]
                done, pending = await asyncio.wait(statuses, return_when=asyncio.FIRST_COMPLETED)
                assert {one.result() for one in done} == {408}
                for one in pending:
                    one.cancel()
                await asyncio.gather(*pending, return_exceptions=True)
            (told,) = [visitor for (visitor, _), one in zip(senders, statuses, strict=True) if one in done]
            await told._until(lambda: any("came too slowly" in text for text in told.said), 20)

    finish(visit())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limit on the files of another process")
def test_where_the_disk_is_full_the_visitor_reads_a_sentence_and_keeps_what_he_had(app: Started) -> None:
    import resource

    process = app.process.pid
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)

    async def visit() -> None:
        async with Visitor.at(app.address) as visitor:
            await visitor.open("your_reports", "k=12")
            await visitor.upload("Report files", "small.csv", COUNTS)
            assert not visitor.said or "disk" not in " ".join(visitor.said)
            resource.prlimit(process, resource.RLIMIT_FSIZE, (2 * MEGABYTE, before[1]))
            assert await whole(visitor, 20) == 507  # it was 500, or no answer at all
            sentence = "no space on its disk"
            await visitor._until(lambda: any(sentence in text for text in visitor.said), 20)
            # A file that needs no disk is taken, and the sentence is gone.
            visitor.said.clear()
            await visitor.upload("Report files", "small.csv", COUNTS)
            assert not any(sentence in text for text in visitor.said)
            assert any("1,000" in text for text in visitor.said), visitor.said  # understood
            assert not visitor.errors

    try:
        finish(visit())
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)
    assert "Traceback" not in app.log.read_text("utf-8")
