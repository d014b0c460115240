"""The example runs as it stands, as another process, against the whole pipeline."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.engines.extractive.engine import ExtractiveEngine
from tests.whole import Whole, whole

EXAMPLE = Path(__file__).with_name("ask_over_nats.py")


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    async with whole(tmp_path_factory.mktemp("example"), ExtractiveEngine()) as made:
        yield made


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
async def test_the_example_runs(run: Whole, question: str, code: int, says: list[str], complains: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLE),
        run.users.url_of("integration"),
        question,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (code, complains)
    assert all(words in out.decode() for words in says)


def test_the_example_is_short_and_needs_only_nats() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert not {"bus", "runtime", "actors", "prompts"} & {
        line.split()[1] for line in text.splitlines() if line[:5] in ("impor", "from ")
    }
