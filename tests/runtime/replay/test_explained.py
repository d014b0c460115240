"""A run explained: its choice is recorded, its text names everything, a source has a reason, and a fault is found in its part."""

import asyncio
import dataclasses
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from actors.answering import sentence_check
from actors.gate import flags
from actors.pipeline import pipeline
from actors.selecting import chosen
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.messages import QuestionAsked
from runtime.cli import groundwire
from runtime.engines.engine import Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from runtime.forking.blame import blame
from runtime.forking.live_powers import Live
from runtime.replay.explained import explained, why
from runtime.replay.replayer import replay
from runtime.replay.trace import Trace, write
from tests.made_runs import live_over, made_by
from tests.whole import find

QUESTION = "When are refunds paid after the return?"
LIE = "Refunds are paid within 38 days of the return [1]. Opened software cannot be returned [1]."
TRUE = "Refunds are paid within 14 days of the return [1]."
#: Questions that the pages answer, with the page that does.
ASKED = {
    QUESTION: "refunds.md",
    "When does the shop open on weekdays?": "opening.md",
    "Quand ouvre la bibliothèque et à quelle heure ferme-t-elle ?": "bibliotheque.md",
    "¿Cuántos libros puede llevarse un investigador?": "biblioteca.md",
    "환불은 며칠 안에 지급되나요?": "환불.md",
    "儿童每天应在户外活动多久？": "近视.md",
}


async def made(question: str = QUESTION, live: Live | None = None) -> Trace:
    live = live or live_over(find)
    live.has_model = False
    return await made_by(QuestionAsked(question=question), live, "made")


def answering(text: str) -> Live:
    return live_over(find, ScriptedEngine({"answer_simple": text, "verify_answer": '{"contradictions": []}'}))


@pytest.mark.parametrize("question", [QUESTION, "Who founded the shop?"], ids=["answered", "closest"])
async def test_choice_is_recorded(question: str) -> None:
    trace = await made(question)
    found = explained(trace)
    assert found.best
    assert found.best[0].share >= found.best[-1].share
    assert found.best[0].text in {hit.text for hit in found.hits}
    assert found.probability is not None
    assert found.needed == 0.5
    assert (found.probability >= found.needed) == (found.record.outcome == "answered")
    assert all(unit.why for unit in found.best)
    assert (await replay(trace, pipeline())).divergence is None


async def test_sentences_have_reasons() -> None:
    found = explained(await made(live=answering(LIE)))
    lie, true = found.sentences
    assert (lie.standing, [flag.kind for flag in lie.flags]) == ("withheld", ["fabricated_number"])
    assert "14" in lie.flags[0].why
    assert (true.standing, [cited.text for cited in true.cited]) == (
        "verified",
        ["Opened software cannot be returned."],
    )


async def shown(trace: Trace, folder: Path, *arguments: str, columns: int = 80) -> str:
    write(folder / "run.jsonl", trace)
    done = await asyncio.to_thread(
        CliRunner().invoke,
        groundwire,
        ["trace", arguments[0], str(folder / "run.jsonl"), *arguments[1:]],
        env={"COLUMNS": str(columns)},
    )
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("columns", [40, 80, 160])
async def test_shown_run_names_everything(tmp_path: Path, columns: int) -> None:
    text = await shown(await made(live=answering(LIE)), tmp_path, "show", columns=columns)
    assert max(map(len, text.splitlines())) <= columns
    words = " ".join(text.split())
    for told in (
        QUESTION,
        "withheld: Refunds are paid within 38 days of the return [1].",
        "fabricated_number, strong: 38",
        "verified: Opened software cannot be returned [1].",
        "[1] “Opened software cannot be returned.”",
        "[1] refunds.md 0-129",
        "opening.md 0-122",
        "1. share 0.976, chosen: refunds.md 0-129",
        "classify_intent",
        "select_evidence",
        "answer_simple",
        "stream_references",
        "verify_answer: scripted:script",
    ):
        assert told in words, text


async def test_shown_run_is_json(tmp_path: Path) -> None:
    trace = await made(live=answering(LIE))
    found = msgspec.json.decode(await shown(trace, tmp_path, "show", "--json"))
    assert found == msgspec.json.decode(msgspec.json.encode(explained(trace)))


async def test_why_names_the_reason(tmp_path: Path) -> None:
    cases = {
        "opening.md": (await made(), "opening.md was found and is not in the evidence"),
        "pening": (await made(), "opening.md was found and is not in the evidence"),
        "refunds.md": (await made(), "refunds.md is cited in 3 of 3 sentences"),
        "biblioteca.md": (await made(), "biblioteca.md was not found"),
    }
    for source, (trace, told) in cases.items():
        assert (await shown(trace, tmp_path, "why", "--source", source)).startswith(told)
    lied = await made(live=answering(LIE.partition(" Opened")[0]))
    withheld = why(lied, explained(lied), "refunds.md")
    assert "the gate withheld what cites it" in withheld[0][1]
    assert any("fabricated_number" in line for _, line in withheld)
    unsure = await made("Who founded the shop?")
    assert "too unsure" in why(unsure, explained(unsure), "opening.md")[0][1]
    beaten = why(await made(), explained(await made()), "opening.md")
    assert any(line.startswith("chosen before it: refunds.md 0-129, share 0.9") for _, line in beaten)


@pytest.mark.parametrize(("question", "source"), ASKED.items(), ids=lambda part: part[:12])
@pytest.mark.parametrize("fault", ["retrieval", "choice", "prompt", "gate", "document", ""])
async def test_planted_fault_is_blamed(question: str, source: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is recorded with the fault; today there is none."""

    async def without(request: SearchRequest) -> SearchReply:
        reply = await find(request)
        return msgspec.structs.replace(reply, passages=tuple(p for p in reply.passages if p.source_id != source))

    async def earlier(request: SearchRequest) -> SearchReply:
        reply = await find(request)
        old = {"text": "Nothing is settled yet.", "char_end": 23, "blocks": ()}
        changed = (msgspec.structs.replace(p, **old) if p.source_id == source else p for p in reply.passages)
        return msgspec.structs.replace(reply, passages=tuple(changed))

    live = live_over(find)
    with monkeypatch.context() as patched:
        if fault == "retrieval":
            live = live_over(without)
        elif fault == "document":
            live = live_over(earlier)
        elif fault == "choice":
            patched.setattr(chosen, "shows", lambda *_, **__: False)
            patched.setattr(chosen, "HIGH", 2.0)
        elif fault == "gate":
            patched.setattr(sentence_check, "check_sentence", lambda *given, **named: [_strong()])
        elif fault == "prompt":
            live = live_over(find, ScriptedEngine(_refusing))
        trace = await made(question, live)
    if fault == "prompt":
        trace = _older_prompt(trace)
    found = await blame(trace, pipeline(), live_over(find, ScriptedEngine() if fault == "prompt" else None))
    assert found.part == fault, found


def _strong() -> object:
    return flags.flag("fabricated_number", "1", (1,), "planted")


def _refusing(request: Request) -> str:
    return "Nothing is known." if request.variables.name.startswith("answer_") else default_script(request)


def _older_prompt(trace: Trace) -> Trace:
    """The trace as if its answer had been asked by an earlier prompt."""
    old = (b'"prompt":"answer_simple"', b'"prompt":"answer_simple","version":"0123"')
    return dataclasses.replace(
        trace, records=tuple(dataclasses.replace(r, data=r.data.replace(*old)) for r in trace.records)
    )


async def test_blame_needs_what_the_record_lacks() -> None:
    found = await blame(await made(), pipeline(), Live())
    assert found.part == ""
    assert {each.part: bool(each.problem) for each in found.tried} == {
        "gate": False,
        "answer": True,
        "choice": False,
        "retrieval": True,
    }
