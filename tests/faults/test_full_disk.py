"""A disk that was full: once there is space, the journal stores records again by itself."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from bus.journal.journal import Journal
from bus.transport.connection import connect, declare_streams, keep_trying
from bus.transport.settings import BusSettings
from bus.wire.errors import Failure
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import key_of
from runtime.processes.nats_server import DiskErrors, has_room
from runtime.processes.supervisor import Stack
from runtime.settings import Settings
from tests.chaos.house import disk, fill
from tests.polling import until

SMALL = BusSettings(runs_max_bytes=8_000_000, events_max_bytes=8_000_000)


async def test_journal_recovers_when_space_is_free(tmp_path: Path) -> None:
    with disk(tmp_path / "small") as mounted:
        if not mounted:
            pytest.skip("no file system can be mounted here")
        said: list[str] = []
        stack = Stack(Settings(bus=SMALL), tmp_path / "small" / "stack", (), say=said.append)
        await stack.start()
        try:
            client = await connect(stack.settings.bus, name="test")
            keep_trying(client)
            await declare_streams(client.jetstream(timeout=2.0), SMALL)
            journal = Journal(client)
            number = 0

            async def written() -> bool:
                nonlocal number
                number += 1
                question = QuestionAsked(question="How long? " * 300)
                with contextlib.suppress(Failure):
                    return await journal.write(key_of(QuestionAsked, f"run-{number}"), question, patience_s=1.0)
                return False

            assert await written()
            assert not journal.failure
            filler = tmp_path / "small" / "filler"
            await asyncio.to_thread(fill, filler)
            assert not await written()
            assert journal.failure
            assert not has_room(stack.folder)
            filler.unlink()
            await until(written, within_s=30.0, what="a record after the disk was full")
            assert not journal.failure
            found = [
                number for number in range(1, number + 1) if await journal.latest([f"gw.question_asked.run-{number}"])
            ]
            assert found[0] == 1
            assert found[-1] == number
            assert said == [
                "nats-server could not write to its disk, which has room again; starting it anew",
                *said[1:],
            ]
            await client.close()
        finally:
            await stack.stop()


def test_only_a_later_failed_write_is_reported(tmp_path: Path) -> None:
    log = tmp_path / "nats.log"
    log.write_bytes(b"[ERR] JetStream failed to store a msg on stream\n")
    errors = DiskErrors(log)
    assert not errors.look()
    with log.open("ab") as file:
        file.write(b"[INF] all is well\n[ERR] JetStream failed to sto")
        file.flush()
        assert not errors.look()
        file.write(b"re a msg on stream\n")
    assert errors.look()
    assert errors.look()
    errors.forget()
    assert not errors.look()
    log.unlink()
    assert not errors.look()
