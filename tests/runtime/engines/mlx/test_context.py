"""Prompts longer than the context: shortened by the rule and reported, or a typed failure."""

import msgspec
import pytest

from bus.wire.errors import BadReply
from prompts import contracts as c
from tests.runtime.engines.sample import collect, render, request

EVIDENCE = tuple(c.Evidence(n=n, source_id=f"s{n}", title="", text=f"Fact {n}: " + "word " * 20) for n in range(1, 21))


def rendering(variables):
    text = "\n".join(e.text for e in variables.evidence) + variables.query
    return render(text, max_tokens=8)


async def test_long_evidence_is_cut_and_recorded(start):
    variables = c.AnswerSynthesis(query="Which fact?", evidence=EVIDENCE, language="en")
    async with start(settings={"context_tokens": 600}, render=rendering) as engine:
        _, finished = await collect(engine, request(variables, rendered=rendering(variables)))
        assert finished.shortened.startswith("evidence ")
        assert finished.shortened.endswith(" of 20")
        assert finished.tokens_in <= 592
        few = msgspec.structs.replace(variables, evidence=EVIDENCE[:2])
        _, finished = await collect(engine, request(few, rendered=rendering(few)))
        assert finished.shortened == ""


@pytest.mark.parametrize("renders", [True, False])
async def test_what_cannot_be_shortened_fails(start, renders):
    variables = c.ClassifyQuery(original_query="q", language="en")
    options = {"render": lambda v: render("word " * 2000)} if renders else {}
    async with start(settings={"context_tokens": 600}, **options) as engine:
        with pytest.raises(BadReply, match="the model's context leaves"):
            await collect(engine, request(variables, rendered=render("word " * 2000)))


async def test_long_text_to_embed_is_cut(start):
    records = []
    async with start(settings={"context_tokens": 50}, on_record=records.append) as engine:
        (long, cut) = await engine.embed(["a b " * 500, "a b"], query=False)
        assert len(long) == len(cut)
    assert records[-1].shortened == "1 texts cut at 50 tokens"
