"""The openai engine against llama.cpp's own server with a small base model: it knows nothing, but its tokens, grammar, timings,
errors and cancellation are real.

The server and its model take 240 MB and a minute, so they are installed and asked only when GROUNDWIRE_LLAMA_CPP is set.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bus.wire.errors import NoReply, TooLong
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Constraints
from runtime.engines.limits import misfit
from runtime.engines.openai.engine import OpenAIEngine
from tests.clients.installed import python_of
from tests.polling import until
from tests.runtime.engines.sample import collect, render, request, shape
from tests.whole import whole


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of the server."""
    if not os.environ.get("GROUNDWIRE_LLAMA_CPP"):
        pytest.skip("llama.cpp and its model take 240 MB; set GROUNDWIRE_LLAMA_CPP=1 to install and ask them")
    model = tmp_path_factory.mktemp("model") / "model.gguf"
    process = await asyncio.create_subprocess_exec(
        str(python_of("llamacpp")),
        str(Path(__file__).with_name("serve_llama_cpp.py")),
        str(model),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    yield (await process.stdout.readline()).decode().strip()
    process.stdin.close()
    process.kill()
    await process.wait()


@pytest.fixture
async def engine(server: str) -> AsyncIterator[OpenAIEngine]:
    made = OpenAIEngine(f"{server}/v1")
    await made.start()
    yield made
    await made.close()


async def idle(server: str) -> bool:
    """Whether it generates nothing."""
    async with aiohttp.ClientSession() as session, session.get(f"{server}/slots") as response:
        return not any(slot["is_processing"] for slot in await response.json())


async def test_tokens_and_timings(engine: OpenAIEngine) -> None:
    assert engine.model == "gemma-3-270m"
    asked = render("Count from one to ten, in words. " * 8, max_tokens=12)
    deltas, finished = await collect(engine, request(rendered=asked))
    assert "".join(deltas) == finished.text != ""
    assert len(deltas) > 1
    assert (finished.finish_reason, finished.tokens_out) == ("length", 12)
    assert finished.tokens_in > 64
    assert finished.prefill_s > 0 < finished.decode_s
    _, again = await collect(engine, request(rendered=asked))
    assert again.text == finished.text
    assert again.tokens_in_cached > 0


@pytest.mark.parametrize(
    "schema",
    [
        shape(ok={"type": "boolean"}),
        shape(
            kind={"enum": ["in_scope", "greeting", "unclear"]}, score={"type": "integer", "minimum": 0, "maximum": 9}
        ),
        shape(days={"type": "array", "items": {"enum": ["월", "화", "周三", "jeudi"]}, "minItems": 1, "maxItems": 2}),
    ],
    ids=["boolean", "enum", "array"],
)
async def test_grammar_constrains_a_base_model(engine: OpenAIEngine, schema: dict[str, object]) -> None:
    _, finished = await collect(engine, request(rendered=render("Judge this.", schema=schema, max_tokens=120)))
    assert misfit(json.loads(finished.text), schema) == ""


async def test_too_long_prompt_is_one_line(engine: OpenAIEngine) -> None:
    with pytest.raises(TooLong, match="prompt or reply too long") as failed:
        await collect(engine, request(rendered=render("word " * 8000)))
    assert "\n" not in str(failed.value)


async def test_leaving_stops_generation(engine: OpenAIEngine, server: str) -> None:
    """A reply that would take minutes: a leaving client frees the model at once."""
    asked = request(rendered=render("Once upon a time", max_tokens=1900))
    reply = engine.generate(asked)
    await anext(reply)
    assert not await idle(server)
    await reply.aclose()  # type: ignore[attr-defined]
    await until(lambda: idle(server), within_s=10, what="the server to stop")


async def test_its_deadline_ends_it(engine: OpenAIEngine, server: str) -> None:
    with pytest.raises(NoReply):
        await collect(engine, request(rendered=render("Once upon a time", max_tokens=1900), seconds=1.5))
    await until(lambda: idle(server), within_s=10, what="the server to stop")


async def test_a_run_over_it_ends_once(engine: OpenAIEngine, tmp_path: Path) -> None:
    """Every reply is checked: no uncited text is shown, and the run ends as every run does."""
    async with whole(tmp_path, engine, cache_entries=0) as run:
        asked = QuestionAsked(
            question="When are refunds paid?", constraints=Constraints(max_tokens=24), deadline_s=100.0
        )
        told = await run.tell(asked)
    assert told.types[-1] == "DONE"
    assert told.types.count("DONE") == 1
    assert told.record.outcome in ("answered", "closest", "refused", "failed")
    assert told.record.tokens_out > 0
    if told.record.outcome == "answered":
        assert told.record.citations
