"""Each example runs unchanged, as another process, against the whole pipeline."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import nats.errors
import pytest
from faststream.nats import NatsBroker

from bus.wire.subjects import EVENTS
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.processes.nats_server import free_port
from tests.examples import ask_with_faststream
from tests.whole import Whole, whole

HERE = Path(__file__).parent
OVER_NATS, WITH_FASTSTREAM = "ask_over_nats.py", "ask_with_faststream.py"


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    async with whole(tmp_path_factory.mktemp("example"), ExtractiveEngine()) as made:
        yield made


@pytest.mark.parametrize("example", [OVER_NATS, WITH_FASTSTREAM])
@pytest.mark.parametrize(
    ("question", "code", "says", "complains"),
    [
        ("How many days until refunds are paid?", 0, ["within 14 days", "- refunds https://example.org/0"], ""),
        ("환불은 며칠 안에 지급되나요?", 0, ["14일", "- 환불"], ""),
        ("Who was the king of Bavaria in 1850?", 3, ["documents"], ""),
        (
            "Quel architecte a dessiné le nouveau bâtiment de la bibliothèque ?",
            3,
            ["- bibliotheque https://example.org/4: La bibliothèque est"],
            "",
        ),
        ("Hello", 3, ["Hello!"], ""),
    ],
)
async def test_the_example_runs(
    run: Whole, example: str, question: str, code: int, says: list[str], complains: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(HERE / example),
        run.users.url_of("integration"),
        question,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (code, complains)
    assert all(words in out.decode() for words in says)


@pytest.mark.parametrize("example", [OVER_NATS, WITH_FASTSTREAM])
@pytest.mark.parametrize("address", ["nats://127.0.0.1:{port}", "nats://[::1"])
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


@pytest.mark.parametrize(("example", "needs"), [(OVER_NATS, {"nats"}), (WITH_FASTSTREAM, {"faststream"})])
def test_example_is_short_with_one_dependency(example: str, needs: set[str]) -> None:
    assert len((HERE / example).read_text(encoding="utf-8").splitlines()) < 80
    assert imported(example) == needs


async def test_subscriber_with_our_stream_is_refused(run: Whole) -> None:
    """As an integration: it may declare nothing, and gets an error."""
    before = (await run.journal.js.stream_info(EVENTS)).config
    broker = NatsBroker(run.users.url_of("integration"), logger=None, graceful_timeout=1.0)

    @broker.subscriber("gw.event.demo", stream=EVENTS)
    async def take(body: bytes) -> None:
        """Never called."""

    with pytest.raises(nats.errors.Error):
        await broker.start()
    await broker.stop()
    assert (await run.journal.js.stream_info(EVENTS)).config == before
    assert not any(watch.restarts for watch in run.watches)
    assert (await run.ask("How many days until refunds are paid?"))[1].outcome == "answered"


async def test_what_faststream_missed_is_read_back(run: Whole) -> None:
    _, record = await run.ask("How many days until refunds are paid?")
    broker = NatsBroker(run.users.url_of("integration"), logger=None)
    await broker.start()
    frames = [each async for each in ask_with_faststream.read_back(broker, record.run_id)]
    await broker.stop()
    assert frames[0].headers["Gw-First"] == "1"
    assert b"".join(each.body for each in frames).endswith(b'{"type":"DONE"}')
