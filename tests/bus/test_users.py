"""What each user of the bus may not do is refused, by the embedded server and by the configuration for a server of one's own."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bus.transport.connection import Client, connect
from bus.transport.settings import BusSettings
from bus.transport.users import INTEGRATION, USERS
from bus.wire.errors import Unavailable
from runtime.processes import nats_server, nats_users
from runtime.processes.nats_config import config, shared_config
from runtime.processes.nats_users import Credentials, bus_as
from runtime.settings import Settings
from tests.bus.wires import serving

EVENTS = ("gw.event.run", "gw.progress.run", "gw.canary.run", "_R_.reply")
RECORDS = ("gw.answer_settled.run.main", "gw.poison.run.main", "gw.passages_judged.run.lane-1")
OTHERS_INBOXES = ("_INBOX.>", "_INBOX.operator.>", "_INBOX.*.x", ">")
STREAMS = tuple(
    f"$JS.API.{request}"
    for request in (
        "STREAM.CREATE.RUNS",
        "STREAM.UPDATE.RUNS",
        "STREAM.DELETE.EVENTS",
        "STREAM.PURGE.RUNS",
        "STREAM.MSG.DELETE.EVENTS",
        "STREAM.SNAPSHOT.RUNS",
        "CONSUMER.DELETE.RUNS.retrieve",
        "CONSUMER.DURABLE.CREATE.RUNS.retrieve",
        "CONSUMER.CREATE.RUNS.retrieve.gw.question_asked.*",
        "CONSUMER.PAUSE.RUNS.retrieve",
    )
)
READING = ("$JS.API.DIRECT.GET.RUNS", "$JS.API.CONSUMER.CREATE.EVENTS", "$JS.API.STREAM.INFO.RUNS")
ACKS = ("$JS.ACK.RUNS.retrieve.1.1.1.1.0",)

#: Forbidden publishes of each user.
NOT_PUBLISHED = {
    "edge": (*EVENTS, *RECORDS, *STREAMS, *ACKS, "gw.ask", "gw.run_finished.run.lane-1", "gw.ask.stop",
             "gw.runs.ask", "gw.runs.get"),
    "search": (*EVENTS, *RECORDS, *STREAMS, *READING, *ACKS, "gw.question_asked.run", "gw.run_finished.run.main", "gw.ask",
               "$O.shelf.C.x", "$O.shelf.M.x", "$JS.API.STREAM.PURGE.OBJ_shelf", "$JS.API.STREAM.INFO.OBJ_shelf",
               "$JS.API.DIRECT.GET.OBJ_shelf", "$JS.API.DIRECT.GET.RUNS.gw.question_asked.run", "gw.runs.get"),
    "inference": (*EVENTS, *RECORDS, *STREAMS, *READING, *ACKS, "gw.question_asked.run", "gw.cancel.run", "gw.search",
                  "gw.runs.get"),
    "integration": (
        *EVENTS, *RECORDS, *STREAMS, *READING, *ACKS, "gw.run_finished.run.main", "gw.access.run.main", "gw.chat.run.main",
        "gw.response.run.main", "gw.response.run.deleted", "gw.verdict.run.1",
        "gw.search", "gw.ask",
        "gw.health.edge", "_INBOX.edge.x",
    ),
}  # fmt: skip
#: Forbidden reads of each user.
NOT_READ = {
    "edge": (*OTHERS_INBOXES, "gw.ask", "gw.search", "$JS.API.>", "gw.>"),
    "search": (*OTHERS_INBOXES, *EVENTS, "gw.ask", "gw.question_asked.*", "gw.>"),
    "inference": (*OTHERS_INBOXES, *EVENTS, "gw.search", "gw.run_finished.*.*", "gw.>"),
    "actors": (*OTHERS_INBOXES, "$JS.API.>"),
    "integration": (">", "gw.>", "gw.canary.*", "gw.runs.*", "gw.*.*.*", "gw.question_asked.*", "$JS.>"),
}


type Opener = Callable[[str], Awaitable[Client]]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Credentials]:
    with serving(tmp_path_factory.mktemp("users"), with_users=True) as server:
        yield server.users


@pytest.fixture
async def as_user(users: Credentials) -> AsyncIterator[Opener]:
    async with AsyncExitStack() as stack:

        async def open_one(user: str) -> Client:
            client = await connect(users.bus(BusSettings(), user), name="test", user=user)
            stack.push_async_callback(client.close)
            return client

        yield open_one


def complaints(client: Client) -> list[str]:
    """What the server has refused of everything sent so far."""
    told: list[str] = []

    async def note(error: Exception) -> None:
        told.append(str(error).casefold())

    client._error_cb = note
    return told


@pytest.mark.parametrize("user", NOT_PUBLISHED)
async def test_forbidden_publish_is_refused(as_user: Opener, user: str) -> None:
    client = await as_user(user)
    told = complaints(client)
    for subject in NOT_PUBLISHED[user]:
        await client.publish(subject, b"{}")
    await client.flush()
    assert sorted(told) == sorted(
        f'nats: permissions violation for publish to "{subject.casefold()}"' for subject in NOT_PUBLISHED[user]
    )


async def test_edge_records_owner_chat_and_response(as_user: Opener) -> None:
    client = await as_user("edge")
    told = complaints(client)
    for subject in (
        "gw.access.run.main",
        "gw.chat.run.conversation",
        "gw.response.run.main",
        "gw.response.run.deleted",
    ):
        await client.publish(subject, b"{}")
    await client.flush()
    assert told == []


@pytest.mark.parametrize("user", NOT_READ)
async def test_forbidden_read_is_refused(as_user: Opener, user: str) -> None:
    client = await as_user(user)
    told = complaints(client)
    for subject in NOT_READ[user]:
        await client.subscribe(subject)
    await client.flush()
    assert sorted(told) == sorted(
        f'nats: permissions violation for subscription to "{subject.casefold()}"' for subject in NOT_READ[user]
    )


async def test_table_names_every_user_but_the_operator() -> None:
    assert {user.name for user in USERS} - {"operator"} == set(NOT_READ) == {*NOT_PUBLISHED, "actors"}


@pytest.mark.parametrize(("user", "password"), [("", ""), ("edge", ""), ("edge", "guessed"), ("root", "guessed")])
async def test_other_users_are_refused(users: Credentials, user: str, password: str) -> None:
    with pytest.raises(Unavailable, match=r"does not let us in; look at bus.user and bus.password$"):
        await connect(BusSettings(url=users.url, user=user, password=password), name="stranger")


async def test_address_with_a_user_is_never_printed(users: Credentials, as_user: Opener) -> None:
    client = await connect(users.url_of("operator"), name="test")
    await client.close()
    with pytest.raises(Unavailable) as refused:
        await connect(users.url_of("operator").replace("@", "1@"), name="test", patience_s=0)
    nowhere = f"nats://operator:{users.passwords['operator']}@127.0.0.1:9"
    with pytest.raises(Unavailable, match=r"no nats-server at nats://127.0.0.1:9 ") as away:
        await connect(nowhere, name="test", patience_s=0)
    assert users.passwords["operator"] not in f"{refused.value}{away.value}"


def test_passwords_are_stable_and_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    first = nats_users.make(tmp_path, "nats://127.0.0.1:1")
    conf = nats_server.write_config(tmp_path, port=1, passwords=first.passwords)
    again = nats_users.make(tmp_path, "nats://127.0.0.1:2")
    assert again.passwords == first.passwords
    assert len(set(first.passwords.values())) == len(USERS)
    assert [(path.name, path.stat().st_mode & 0o777) for path in (tmp_path / nats_users.FILE, conf, tmp_path)] == [
        (nats_users.FILE, 0o600), ("nats.conf", 0o600), (tmp_path.name, 0o700),
    ]  # fmt: skip


def test_local_credentials_go_to_the_local_server_only(tmp_path: Path) -> None:
    (tmp_path / "nats").mkdir()
    made = nats_users.make(tmp_path / "nats", "nats://localhost:4222")

    def as_edge(**bus: str) -> tuple[str, str]:
        found = bus_as(Settings(state=str(tmp_path), bus=BusSettings(**bus)), "edge")  # type: ignore[arg-type]
        return found.user, found.password

    assert as_edge() == ("edge", made.passwords["edge"])
    assert as_edge(url="nats://10.0.0.5:4222") == ("", "")
    assert as_edge(url="nats://127.0.0.1:4223") == ("", "")
    assert as_edge(user="mine", password="p") == ("mine", "p")
    assert as_edge(url="nats://a:b@127.0.0.1:4222") == as_edge(creds="file") == ("", "")


def test_configuration_for_another_server_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "users.conf"
    path.write_text(f"listen: 127.0.0.1:4222\njetstream {{}}\n{shared_config()}", encoding="utf-8")
    passwords = {f"GROUNDWIRE_NATS_{user.name.upper()}": f"p{user.name}" for user in USERS}
    command = [*nats_server.command(path), "-t"]
    told = subprocess.run(command, env={**os.environ, **passwords}, capture_output=True, text=True, check=False)
    assert (told.returncode, "is valid" in told.stderr) == (0, True), told.stderr
    embedded = config(tmp_path, host="h", port=1, passwords=dict.fromkeys((u.name for u in USERS), "p"))
    rights = ("publish:", "subscribe:", "service:", "stream:")
    ours, theirs = (
        [line for line in text.splitlines() if any(r in line for r in rights)] for text in (embedded, shared_config())
    )
    assert ours == theirs


def test_integration_has_no_rights_on_streams() -> None:
    account, _, guests = config(
        Path("/"), host="h", port=1, passwords=dict.fromkeys((u.name for u in USERS), "p")
    ).partition("  INTEGRATIONS {")
    assert f"user: {INTEGRATION.name}," not in account
    assert "jetstream" not in guests


async def test_lent_subjects_deliver_both_ways(as_user: Opener) -> None:
    operator, integration = await as_user("operator"), await as_user("integration")
    cancelled = await operator.subscribe("gw.cancel.*")
    seen = await integration.subscribe("gw.progress.*")
    await asyncio.gather(operator.flush(), integration.flush())
    await integration.publish("gw.cancel.run", b"")
    await operator.publish("gw.progress.run", b"{}")
    assert (await cancelled.next_msg(timeout=5)).subject == "gw.cancel.run"
    assert (await seen.next_msg(timeout=5)).subject == "gw.progress.run"


async def test_bucket_reader_reads_no_other_stream(as_user: Opener) -> None:
    operator, search = await as_user("operator"), await as_user("search")
    js = operator.jetstream()
    await js.create_object_store("shelf")
    await js.publish("$O.shelf.C.digest", b"bytes")
    await js.add_stream(name="SECRET", subjects=["secret.>"], allow_direct=True)
    await js.publish("secret.word", b"hidden")
    read = await search.request("$JS.API.DIRECT.GET.OBJ_shelf.$O.shelf.C.digest", timeout=5)
    assert read.data == b"bytes"
    for body in (b"", b'{"seq": 1}', b'{"last_by_subj": "secret.word"}', b'{"next_by_subj": "secret.>", "seq": 1}',
                 b'{"multi_last": ["secret.word"]}', b'{"next_by_subj": "secret.>", "seq": 1, "batch": 5}'):  # fmt: skip
        reply = await search.request("$JS.API.DIRECT.GET.SECRET.$O.shelf.C.digest", body, timeout=5)
        assert (reply.data, (reply.headers or {}).get("Status", "")[:1]) == (b"", "4"), body
