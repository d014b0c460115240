"""Following a stream: stored and new messages, each once and in order, even if the server is killed meanwhile."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from typing import cast

import nats.errors
import pytest

import bus.transport.follow
from bus.transport.connection import Client, Connection, declare_streams
from bus.transport.follow import SHORTER, Following, Stored
from bus.transport.settings import BusSettings
from bus.wire.subjects import EVENTS, event_subject, progress_subject
from tests.bus.wires import Server, Wire
from tests.polling import cancel, until


@contextlib.asynccontextmanager
async def following(
    wire: Wire,
    subject: str,
    *,
    after: int | None = None,
    since: float | None = None,
    headers_only: bool = False,
    anew: Callable[[], None] | None = None,
) -> AsyncIterator[list[Stored]]:
    """Everything that is followed, in a list that grows."""
    seen: list[Stored] = []
    ready = asyncio.Event()

    async def read() -> None:
        batches = Following(wire.client, EVENTS, [subject], headers_only, ready, anew).batches(after, since)
        async with contextlib.aclosing(batches):
            async for batch in batches:
                seen.extend(batch)

    task = asyncio.create_task(read())
    await ready.wait()
    try:
        yield seen
    finally:
        await cancel(task)


async def put(wire: Wire, subject: str, numbers: range) -> None:
    for n in numbers:
        await until(lambda n=n: _put_one(wire, subject, n), what=f"message {n} to be stored")  # type: ignore[misc]


async def _put_one(wire: Wire, subject: str, n: int) -> bool:
    """Stored once, though its ack be lost: the server knows the id."""
    try:
        await wire.journal.js.publish(
            subject, str(n).encode(), stream=EVENTS, headers={"Nats-Msg-Id": f"{subject}-{n}"}
        )
    except (nats.errors.Error, TimeoutError):  # the server is being killed
        return False
    return True


def numbers(seen: list[Stored]) -> list[int]:
    return [int(stored.data) for stored in seen]


def has(seen: list[Stored], count: int) -> Callable[[], bool]:
    return lambda: len(seen) >= count


async def test_what_was_there_and_what_comes(wire: Wire) -> None:
    subject = event_subject(secrets.token_hex(6))
    await put(wire, subject, range(20))
    async with following(wire, subject, after=0) as seen:
        await put(wire, subject, range(20, 40))
        await until(has(seen, 40))
    assert numbers(seen) == list(range(40))
    assert [stored.sequence for stored in seen] == sorted({stored.sequence for stored in seen})
    assert {stored.subject for stored in seen} == {subject}


async def test_from_now_on(wire: Wire) -> None:
    subject = event_subject(secrets.token_hex(6))
    await put(wire, subject, range(5))
    async with following(wire, subject) as seen:
        await put(wire, subject, range(5, 8))
        await until(has(seen, 3))
    assert numbers(seen) == [5, 6, 7]


async def test_after_a_sequence_or_since_a_time(wire: Wire) -> None:
    subject = event_subject(secrets.token_hex(6))
    await put(wire, subject, range(5))
    async with following(wire, subject, after=0) as seen:
        await until(has(seen, 5))
    async with following(wire, subject, after=seen[2].sequence) as rest:
        await until(has(rest, 2))
    assert numbers(rest) == [3, 4]
    async with following(wire, subject, since=seen[0].time - 1.0, headers_only=True) as bare:
        await until(has(bare, 5))
    assert [(stored.data, stored.headers["Nats-Msg-Id"]) for stored in bare] == [
        (b"", f"{subject}-{n}") for n in range(5)
    ]


async def test_more_than_one_fetch_holds(wire: Wire) -> None:
    subject = event_subject(secrets.token_hex(6))
    for n in range(1, 2501):  # without an ack each, of which many at a time would wait for one another
        await wire.client.publish(subject, str(n).encode())
    await wire.client.flush()
    async with following(wire, subject, after=0) as seen:
        await until(has(seen, 2500))
    assert numbers(seen) == list(range(1, 2501))
    assert seen[-1].pending == 0


async def test_stream_arrives_in_batches_of_the_limit(own_wire: Wire) -> None:
    js, subjects = own_wire.journal.js, [event_subject("a"), event_subject("b"), progress_subject("a")]
    for n in range(300):
        await js.publish(subjects[n % 3], str(n).encode(), stream=EVENTS)
    sizes: list[int] = []
    seen: list[Stored] = []
    async with contextlib.aclosing(Following(own_wire.client, EVENTS, (), ahead=40).batches(after=0)) as batches:
        async for batch in batches:
            sizes.append(len(batch))
            seen += batch
            if len(seen) >= 300:
                break
    assert numbers(seen) == list(range(300))
    assert {stored.subject for stored in seen} == set(subjects)
    assert max(sizes) <= 50


async def test_stopped_follower_gets_nothing_more(wire: Wire) -> None:
    takers = len(cast(Connection, wire.client).takers)
    subject = event_subject(secrets.token_hex(6))
    async with following(wire, subject) as seen:
        await put(wire, subject, range(1))
        await until(has(seen, 1))
        assert len(cast(Connection, wire.client).takers) == takers + 1
    assert len(cast(Connection, wire.client).takers) == takers


async def test_foreign_headers_are_read_unchanged(wire: Wire) -> None:
    subject = event_subject(secrets.token_hex(6))
    headers = {"Status": "404", "Gw-First": "1", "Name": "a: b"}
    async with following(wire, subject) as seen:
        await wire.journal.js.publish(subject, b"0", headers=headers)
        await wire.journal.js.publish(subject, b"1")
        await until(has(seen, 2))
    assert [stored.headers for stored in seen] == [{"Gw-First": "1", "Name": "a: b"}, {}]


async def test_followers_of_one_connection_do_not_mix(wire: Wire) -> None:
    one, two = (event_subject(secrets.token_hex(6)) for _ in range(2))
    async with following(wire, one) as first, following(wire, two) as second:
        await put(wire, one, range(3))
        await put(wire, two, range(10, 13))
        await until(lambda: len(first) >= 3 and len(second) >= 3)
    assert (numbers(first), numbers(second)) == ([0, 1, 2], [10, 11, 12])


async def test_recreated_stream_is_followed_from_its_start(own_settings: BusSettings, own_wire: Wire) -> None:
    js, subject = own_wire.journal.js, event_subject(secrets.token_hex(6))
    await put(own_wire, subject, range(5))
    told: list[str] = []
    async with following(own_wire, subject, after=0, anew=lambda: told.append("anew")) as seen:
        await until(has(seen, 5))
        assert told == []
        await js.delete_stream(EVENTS)
        await declare_streams(js, own_settings)
        await asyncio.gather(*(js.publish(subject, str(n).encode(), stream=EVENTS) for n in range(5, 8)))
        await until(has(seen, 8))
    assert numbers(seen) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert [stored.sequence for stored in seen] == [1, 2, 3, 4, 5, 1, 2, 3]
    assert told == ["anew"]


async def test_leader_that_lags_for_a_moment_is_ignored(own_wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = event_subject(secrets.token_hex(6))
    await put(own_wire, subject, range(5))
    real, looks = bus.transport.follow._identity, 0

    async def behind(client: Client, stream: str) -> tuple[str, int]:
        nonlocal looks
        looks += 1
        made, newest = await real(client, stream)
        return made, 3 if looks < SHORTER else newest

    monkeypatch.setattr(bus.transport.follow, "_identity", behind)
    told: list[str] = []
    async with following(own_wire, subject, after=4, anew=lambda: told.append("anew")) as seen:
        await put(own_wire, subject, range(5, 8))
        await until(has(seen, 4))
    assert (numbers(seen), told) == ([4, 5, 6, 7], [])


async def test_restarted_server_loses_and_repeats_nothing(server: Server, own_wire: Wire) -> None:
    subject = event_subject(secrets.token_hex(6))
    await put(own_wire, subject, range(10))
    async with following(own_wire, subject, after=0) as seen:
        await until(has(seen, 5))
        writing = asyncio.create_task(put(own_wire, subject, range(10, 60)))
        await until(has(seen, 20))
        server.kill()
        server.start()
        await writing
        await until(has(seen, 60))
    assert numbers(seen) == list(range(60))
