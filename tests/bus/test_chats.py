"""The latest run of a chat, over a real nats-server: separate for each key, and removed with its run."""

import secrets

from bus.journal.access import Access
from bus.journal.pruning import remove_run
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import key_of
from tests.bus.wires import Wire

ASKERS = (
    None,
    Access(key="ann"),
    Access(key="ann", groups=()),
    Access(key="ann", groups=("sales",)),
    Access(key="eve"),
)


async def test_every_process_with_the_secret_reads_the_last_run(wire: Wire) -> None:
    first, second = (Runs(wire.client, wire.inbox, wire.journal, secret=b"s") for _ in range(2))
    chat = secrets.token_hex(8)
    assert await first.latest_of_chat(chat) is None
    for run_id in ("a1", "b2", "a1"):
        await first.add_to_chat(chat + run_id, chat)
    assert await second.latest_of_chat(chat) == f"{chat}b2", "a run is added once"
    stranger = Runs(wire.client, wire.inbox, wire.journal, secret=b"another")
    assert await stranger.latest_of_chat(chat) is None


async def test_name_is_another_chat_for_each_key(wire: Wire) -> None:
    runs = Runs(wire.client, wire.inbox, wire.journal)
    chat = secrets.token_hex(8)
    for number, access in enumerate(ASKERS):
        await runs.add_to_chat(f"{chat}-{number}", chat, access)
    assert [await runs.latest_of_chat(chat, access) for access in ASKERS] == [
        f"{chat}-{number}" for number in range(len(ASKERS))
    ]


async def test_chat_leaves_the_journal_with_its_run(wire: Wire) -> None:
    runs = Runs(wire.client, wire.inbox, wire.journal)
    chat, run_id = secrets.token_hex(8), secrets.token_hex(8)
    await wire.journal.write(key_of(QuestionAsked, run_id), QuestionAsked(question="how long"))
    await runs.add_to_chat(run_id, chat)
    record = await runs.record(run_id)
    assert record is not None
    assert record.question == "how long", "the record of a run is read as before"
    await remove_run(wire.journal, run_id)
    assert await runs.latest_of_chat(chat) is None
