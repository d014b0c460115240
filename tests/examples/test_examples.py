"""Each example runs unchanged, as another process, against the whole pipeline."""

import asyncio
import contextlib
import csv
import hashlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from faststream.nats import NatsBroker

from bus.wire.messages import RunFinished
from bus.wire.settled import Settled
from bus.wire.subjects import finished
from runtime.processes.ports import free_port
from tests.examples import ask_with_faststream
from tests.polling import until
from tests.whole import Whole

HERE = Path(__file__).parent
OVER_NATS, WITH_FASTSTREAM = "ask_over_nats.py", "ask_with_faststream.py"
BATCHES = ("batch_over_nats.py", "batch_with_faststream.py")
NEEDS = dict(zip((OVER_NATS, WITH_FASTSTREAM, *BATCHES), ("nats", "faststream") * 2, strict=True))
QUESTION = "How many days until refunds are paid?"


@pytest.mark.parametrize("example", [OVER_NATS, WITH_FASTSTREAM])
@pytest.mark.parametrize(
    ("question", "code", "says"),
    [
        ("How many days until refunds are paid?", 0, ["within 14 days", "- refunds https://example.org/0"]),
        ("환불은 며칠 안에 지급되나요?", 0, ["14일", "- 환불"]),
        ("Who was the king of Bavaria in 1850?", 3, ["documents"]),
        (
            "Quel architecte a dessiné le nouveau bâtiment de la bibliothèque ?",
            3,
            ["- bibliotheque https://example.org/4: La bibliothèque est"],
        ),
        ("Hello", 3, ["Hello!"]),
    ],
)
async def test_the_example_runs(run: Whole, example: str, question: str, code: int, says: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(HERE / example),
        run.users.url_of("integration"),
        question,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (code, "")
    assert all(words in out.decode() for words in says)


@pytest.mark.parametrize(
    ("example", "address"), [(OVER_NATS, "nats://127.0.0.1:{port}"), (WITH_FASTSTREAM, "nats://[::1")]
)
async def test_absent_server_is_one_line(example: str, address: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / example), address.format(port=free_port()), "Hello", stderr=subprocess.PIPE
    )
    _, err = await process.communicate()
    assert process.returncode == 1
    [line] = err.decode().splitlines()
    assert "take the address from `groundwire nats url`" in line


def imported(example: str) -> set[str]:
    lines = (HERE / example).read_text(encoding="utf-8").splitlines()
    return {
        line.split()[1].partition(".")[0] for line in lines if line[:5] in ("impor", "from ")
    } - sys.stdlib_module_names


@pytest.mark.parametrize("example", NEEDS)
def test_example_is_short_with_one_dependency(example: str) -> None:
    assert len((HERE / example).read_text(encoding="utf-8").splitlines()) < (61 if example in BATCHES else 80)
    assert imported(example) == {NEEDS[example]}


@pytest.mark.parametrize("example", BATCHES)
async def test_batch_answers_each_row_once(run: Whole, example: str, tmp_path: Path) -> None:
    """Killed in the middle and started again; the first row's run was refused for lack of room before it began."""
    questions, answers = tmp_path / "questions.csv", tmp_path / "answers.db"
    rows = {f"{example} {n}": QUESTION for n in range(30)} | {"wrong": "x" * 4001}
    first = next(iter(rows))
    with questions.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "question"), *rows.items()])
    refused = hashlib.sha256(f"{first} {QUESTION} 0".encode()).hexdigest()[:40]
    await run.journal.write(finished(refused), RunFinished(settled=Settled(outcome="failed", unrun="overloaded")))
    command = [sys.executable, str(HERE / example), run.users.url_of("integration"), str(questions), str(answers)]

    def outcomes() -> dict[str, str]:
        with contextlib.suppress(sqlite3.OperationalError), sqlite3.connect(answers) as db:
            return dict(db.execute("SELECT id, outcome FROM answers"))
        return {}

    before = len(await run.journal.subjects("gw.question_asked.*"))
    process = await asyncio.create_subprocess_exec(*command)
    await until(outcomes, what="the first row")
    process.kill()
    await process.wait()
    assert 0 < len(outcomes()) < len(rows)
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == 0
    assert outcomes() == dict.fromkeys(rows, "answered") | {"wrong": "invalid"}
    assert len(await run.journal.subjects("gw.question_asked.*")) - before == len(
        rows
    )  # none of the wrong one, two of the first


async def test_what_faststream_missed_is_read_back(run: Whole) -> None:
    _, record = await run.ask("How many days until refunds are paid?")
    broker = NatsBroker(run.users.url_of("integration"), logger=None)
    await broker.start()
    frames = [each async for each in ask_with_faststream.read_back(broker, record.run_id)]
    await broker.stop()
    assert frames[0].headers["Gw-First"] == "1"
    assert b"".join(each.body for each in frames).endswith(b'{"type":"DONE"}')
