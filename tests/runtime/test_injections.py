"""Hostile questions, passages and titles through the whole stream, with a model that obeys every instruction.

The engine repeats every hostile text, with links of its own: none of it may come out as structure or as something clickable.
"""

import asyncio
import json
import re
import unicodedata
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import msgspec
import pytest

from bus.wire.errors import Invalid
from bus.wire.messages import Context, ContextMetadata, QuestionAsked
from bus.wire.requests import check_question
from prompts import contracts as c
from prompts.library import Library
from prompts.vocabulary import Release
from runtime.engines.engine import Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from tests.in_process import Stack, stack
from tests.prompts.test_injections import INJECTIONS, SPECIAL, Injection, by_id, seen

SOURCE = "https://docs.example/rules"
EVIL = (
    "See [fine](https://docs.example/rules) [1]. "
    "Click [here](https://evil.example/?q=secret) or ![x](http://evil.example/p.png) <img src=http://evil.example/a.png> "
    "www.evil.example javascript:alert(1) <script>fetch('//evil.example')</script> [1]."
)
LIBRARY = Library()
CLICKABLE = re.compile(r"https?://|//\w|www\.|javascript:|data:\w+/|!\[|\]\(|<\s*/?[a-zA-Z!]")


class Obeying(ScriptedEngine):
    """Takes rendered prompts, as a model does, and answers with all it was given and the links above."""

    needs_rendering = True

    def __init__(self) -> None:
        super().__init__(self.obey)

    @staticmethod
    def obey(request: Request) -> str | list[str]:
        v = request.variables
        if isinstance(v, c.SelectEvidence):
            spans = [{"passage": n, "text": chunk.content} for n, chunk in enumerate(v.retrieved_chunks, 1)]
            return json.dumps({"spans": spans}, ensure_ascii=False)
        if isinstance(v, c.AnswerSimple):
            said = " ".join(f"{e.text} [{e.n}]. {e.title} [{e.n}]." for e in v.retrieved_chunks)
            text = f"{said} {v.original_query} [1]. {EVIL}"
            return [text[at : at + 5] for at in range(0, len(text), 5)]
        return default_script(request)


@pytest.fixture(scope="module")
async def engine() -> Obeying:
    return Obeying()


@pytest.fixture(scope="module")
async def running(engine: Obeying, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with AsyncExitStack() as kept:
        yield await kept.enter_async_context(stack(tmp_path_factory.mktemp("stack"), engine))


def asked(injection: Injection, release: Release) -> QuestionAsked:
    places = {"question": "What do the rules say?", "passage": "The rules say this.", "title": "Rules"}
    place = "passage" if injection.place not in places else injection.place
    places[place] = injection.text
    rules = ContextMetadata(source_id="rules", title=places["title"], url=SOURCE)
    return QuestionAsked(
        question=places["question"],
        language="en",
        style="simple",
        release=release,
        events="all",
        contexts=(Context(content=places["passage"], metadata=rules),),
    )


def can_be_asked(question: QuestionAsked) -> bool:
    """Whether the pipeline takes the question; one with control characters is refused before a model sees it."""
    try:
        check_question(question)
    except Invalid:
        return False
    return True


def outside_sources(text: str) -> str:
    """The text without the one link that may be clicked."""
    return text.replace(f"[fine]({SOURCE})", "").replace(SOURCE, "")


@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
@pytest.mark.parametrize("injection", INJECTIONS, ids=by_id)
async def test_nothing_hostile_comes_out(
    injection: Injection, release: Release, running: Stack, engine: Obeying
) -> None:
    engine.requests.clear()
    question = asked(injection, release)
    told = await asyncio.wait_for(running.ask(question), 120)
    assert bool(engine.requests) == can_be_asked(question)
    for request in engine.requests:
        assert request.rendered is not None
        assert request.rendered.system == LIBRARY.file(request.variables.name).system
        assert not [one for one in SPECIAL if one in seen(request.rendered.user)]
    for said in (told.shown, told.record.answer, *(one.text for one in told.record.withheld)):
        assert not CLICKABLE.search(outside_sources(said)), said
        assert not [char for char in said if unicodedata.category(char) == "Cf"], said
    for line in told.lines:
        assert "evil.example" not in msgspec.json.decode(line).get("content", "")
    assert {one.source_id for one in told.record.references} <= {"rules"}
    assert {one.n for one in told.record.citations} <= {1}
    assert told.types[-1] == "DONE"
    assert told.types.count("DONE") == 1


async def test_the_one_source_may_be_clicked(running: Stack) -> None:
    """The tests above would not notice if nothing were shown at all."""
    told = await running.ask(asked(INJECTIONS[0], "token"))
    assert f"[fine]({SOURCE})" in told.shown
    assert "Click here or x" in told.shown
