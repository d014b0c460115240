"""Markers match references: numbers 1, 2, 3 in reading order, for any citations of the model and any ending."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import msgspec
import pytest
from groundwire.wire import Context, ContextMetadata

from actors.answering.sentence_check import cited_in
from bus.runs.run_record import RunRecord
from bus.wire.messages import QuestionAsked
from index.text.citations import markers
from prompts import contracts
from runtime.engines.engine import Delta, Finished, Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from tests.polling import until
from tests.whole import Whole, whole

TEXTS = (
    "Refunds are paid within 14 days of the return.",
    "The shipping fee of 3,000 won is not refunded.",
    "The shop opens at nine on weekdays.",
    "Ladders must be checked every 6 months.",
    "Opened software cannot be returned.",
)
CONTEXTS = tuple(
    Context(content=text, metadata=ContextMetadata(source_id=f"doc{n}.md", title=f"Document {n}"))
    for n, text in enumerate(TEXTS, start=1)
)
QUESTION = "How long do refunds take, what of the fee, when does the shop open, and who checks ladders and software?"
ALL = '{"spans": [' + ", ".join(f'{{"passage": {n}, "text": "{t}"}}' for n, t in enumerate(TEXTS, start=1)) + "]}"
ARABIC, FULL_WIDTH = (
    str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"),
    str.maketrans("0123456789[]", "０１２３４５６７８９［］"),
)
LIE = "Refunds are paid within 99 days of the return"

#: How a marker is written: of the numbers that it cites.
NOTATIONS: dict[str, Callable[[Sequence[int]], str]] = {
    "list": lambda ns: f"[{', '.join(map(str, ns))}]",
    "apart": lambda ns: "".join(f"[{n}]" for n in ns),
    "range": lambda ns: f"[{min(ns)}-{max(ns)}]",
    "full width": lambda ns: f"[{','.join(map(str, ns))}]".translate(FULL_WIDTH),
    "Arabic": lambda ns: f"[{'، '.join(map(str, ns))}]".translate(ARABIC),
    "lenticular": lambda ns: f"【{', '.join(map(str, ns))}】",
}
Events = list[dict[str, Any]]
Sentences = Callable[[dict[int, str]], Iterable[str]]


class Engine(ScriptedEngine):
    """Scripted; `said` makes the sentences of an answer from the numbered evidence, and `hold` stops it before the last."""

    def __init__(self) -> None:
        super().__init__(self._reply)
        self.said: Sentences = lambda evidence: [f"{text} [{n}]. " for n, text in evidence.items()]
        self.style = "simple"
        self.hold = False
        self.more: dict[str, str] = {}

    def _reply(self, request: Request) -> str:
        name, v = request.variables.name, request.variables
        if name in self.more:
            return self.more[name]
        if name == "select_evidence":
            return ALL
        if not name.startswith("answer_"):
            return default_script(request)
        text = "".join(self.said(evidence_of(v)))
        if isinstance(v, contracts.AnswerSynthesis):
            whole_reply: object = contracts.Synthesis(
                answer=text, used_citations=tuple(cited_in(text)), confidence="high", refused=False, refuse_reason=""
            )
        elif isinstance(v, contracts.AnswerStructured | contracts.AnswerHint):
            first, *rest = text.strip().splitlines()
            whole_reply = contracts.StructuredAnswer(summary=first, details=tuple(rest[:3]), citations=())
        else:
            return text
        return msgspec.json.encode(whole_reply).decode()

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        async for part in super().generate(request):
            if self.hold and isinstance(part, Finished) and request.variables.name.startswith("answer_"):
                yield Delta("And")
                await asyncio.Event().wait()
            yield part


def evidence_of(variables: Any) -> dict[int, str]:
    evidence = (
        getattr(variables, "evidence", None) or getattr(variables, "retrieved_chunks", None) or variables.contexts
    )
    return {each.n: each.text.removesuffix(".") for each in evidence}


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Whole, Engine]]:
    engine = Engine()
    async with whole(tmp_path_factory.mktemp("markers"), engine) as made:
        yield made, engine


_asked = itertools.count(1)


async def ask(stack: tuple[Whole, Engine], said: Sentences, **fields: object) -> tuple[Events, RunRecord]:
    run, engine = stack
    engine.said, engine.hold, engine.more = said, False, {}
    return await run.ask(f"{QUESTION} ({next(_asked)})", **{"contexts": CONTEXTS, **fields})


def text_of(events: Events) -> str:
    return "".join(e["content"] for e in events if e.get("status") == "in_progress")


def check(text: str, record: RunRecord, references: Sequence[dict[str, Any]] | None) -> list[int]:
    """That the numbers of `text` run 1, 2, 3, and that each leads to the same place in stream and record; the numbers."""
    places = [(marker.start, marker.end, n) for marker in markers(text) for n in marker.numbers]
    numbers = list(dict.fromkeys(n for *_, n in places))
    assert numbers == list(range(1, len(numbers) + 1)), text
    assert [(c.answer_start, c.answer_end, c.n) for c in record.citations] == places
    assert sorted(n for reference in record.references for n in reference.n) == numbers
    for reference in record.references:
        assert tuple(place.n for place in reference.cited) == reference.n
        for place in reference.cited:
            (citation,) = {
                (c.source_id, c.source_start, c.source_end, c.cited_text) for c in record.citations if c.n == place.n
            }
            assert citation == (reference.source_id, place.source_start, place.source_end, place.cited_text)
            (context,) = (c for c in CONTEXTS if c.metadata.source_id == reference.source_id)
            assert context.content[place.source_start : place.source_end] == place.cited_text
    if references is not None:
        assert references == msgspec.json.decode(msgspec.json.encode(record.references))
    return numbers


def told(events: Events) -> list[dict[str, Any]]:
    return next((e["items"] for e in events if e["type"] == "references"), [])


def sources(record: RunRecord) -> list[str]:
    return [reference.source_id for reference in record.references]


@pytest.mark.parametrize("release", ["sentence", "draft", "token"])
@pytest.mark.parametrize("notation", NOTATIONS)
async def test_numbers_run_in_reading_order(stack: tuple[Whole, Engine], notation: str, release: str) -> None:
    write = NOTATIONS[notation]

    def said(evidence: dict[int, str]) -> Iterable[str]:
        first, second, third, fourth, last = evidence
        yield f"{evidence[last]} {write([last])}. "
        yield f"{evidence[second]} {write([second, third, fourth])}. "
        yield f"{evidence[first]} {write([first])}."

    events, record = await ask(stack, said, release=release)
    assert record.outcome == "answered", record
    assert text_of(events) == record.answer
    assert check(record.answer, record, told(events)) == [1, 2, 3, 4, 5]
    assert len({c.source_id for c in record.citations}) == 5
    cited = dict(zip(sources(record), itertools.count(1), strict=False))
    for citation in record.citations:
        assert cited[citation.source_id] == citation.n


@pytest.mark.parametrize("seed", range(12))
async def test_any_model_output_is_numbered(stack: tuple[Whole, Engine], seed: int) -> None:
    choice = random.Random(seed)
    release = choice.choice(["sentence", "draft", "token"])
    style = choice.choice(["simple", "report", "synthesis", "structured"])

    def said(evidence: dict[int, str]) -> Iterable[str]:
        numbers = list(evidence)
        if choice.random() < 0.5:
            yield f"{LIE} {NOTATIONS['list'](choice.sample(numbers, 1))}.\n"
        for n in choice.sample(numbers, choice.randint(1, 5)):
            others = choice.sample(numbers, choice.randint(0, 2))
            write = choice.choice(list(NOTATIONS.values()))
            yield f"{evidence[n]} {write(list(dict.fromkeys([n, *others])))}.\n"

    events, record = await ask(stack, said, release=release, style=style)
    if "error" in {event["type"] for event in events}:
        assert record.withdrawn == text_of(events)
        check(record.withdrawn, record, None)
        return
    assert text_of(events) == record.answer
    check(record.answer, record, told(events))
    if record.outcome == "answered":
        assert record.citations


async def test_what_was_withheld_takes_no_number(stack: tuple[Whole, Engine]) -> None:
    def said(evidence: dict[int, str]) -> Iterable[str]:
        yield f"{LIE} [1]. "
        yield f"{evidence[4]} [4]. {evidence[2]} [2]."

    events, record = await ask(stack, said)
    assert [w.text.strip() for w in record.withheld] == [f"{LIE} [1]."]
    assert check(text_of(events), record, told(events)) == [1, 2]
    assert text_of(events).endswith("[2].")


async def test_number_without_evidence_is_removed(stack: tuple[Whole, Engine]) -> None:
    def said(evidence: dict[int, str]) -> Iterable[str]:
        yield f"{evidence[2]} [77]. {evidence[3]} [3, 88]."

    events, record = await ask(stack, said, release="token")
    text = record.withdrawn or record.answer
    assert text == text_of(events) == f"{TEXTS[1]} {TEXTS[2].removesuffix('.')} [1]."
    assert check(text, record, None) == [1]


async def test_withdrawn_answer_keeps_its_sources(stack: tuple[Whole, Engine]) -> None:
    def said(evidence: dict[int, str]) -> Iterable[str]:
        yield f"{evidence[3]} [3]. {LIE} [1]. {LIE} [1]."

    for release in ("sentence", "token"):
        events, record = await ask(stack, said, release=release)
        assert (record.outcome, events[-2]["type"]) == ("refused", "error")
        assert record.withdrawn == text_of(events)
        assert check(record.withdrawn, record, None)[0] == 1
        assert sources(record)[0] == "doc3.md"


@pytest.mark.parametrize("release", ["sentence", "token"])
@pytest.mark.parametrize("end", ["cancel", "deadline"])
async def test_stopped_answer_keeps_its_sources(stack: tuple[Whole, Engine], release: str, end: str) -> None:
    run, engine = stack
    engine.said = lambda evidence: [f"{evidence[4]} [4]. ", f"{evidence[2]} [2]. "]
    engine.hold, engine.more = True, {}
    for deadline_s in (100.0,) if end == "cancel" else (2.0, 10.0, 50.0):
        asked = QuestionAsked(
            question=f"{QUESTION} ({next(_asked)})",
            contexts=CONTEXTS,
            release=release,  # type: ignore[arg-type]
            deadline_s=deadline_s,
        )
        run_id = (await run.runs.submit(asked)).run_id
        following = asyncio.ensure_future(collected(run, run_id))
        if end == "cancel":
            await until(lambda run_id=run_id: both_shown(run, run_id))  # type: ignore[misc]
            assert await run.runs.cancel(run_id)
        events = await following
        if await both_shown(run, run_id):
            break  # else this machine needs longer until both sentences are there
    assert [event["type"] for event in events[-2:]] == ["error", "DONE"]
    record = await run.runs.record(run_id)
    assert record is not None
    assert record.answer == text_of(events)
    assert check(record.answer, record, None) == [1, 2]
    assert sources(record) == ["doc4.md", "doc2.md"]


async def collected(run: Whole, run_id: str) -> Events:
    return [msgspec.json.decode(line) async for _, line in run.runs.events(run_id)]


async def both_shown(run: Whole, run_id: str) -> bool:
    return b"[2]" in b"".join(frame.data for frame in await run.journal.frames(run_id))


async def test_a_kept_answer_is_numbered_again(stack: tuple[Whole, Engine]) -> None:
    run, engine = stack
    engine.said, engine.hold, engine.more = lambda evidence: [f"{evidence[4]} [4]. {evidence[2]} [2]."], False, {}
    texts = []
    for _ in range(2):
        events, record = await run.ask(f"{QUESTION} (kept)", contexts=CONTEXTS)
        assert check(text_of(events), record, told(events)) == [1, 2]
        texts.append(text_of(events))
    assert texts[0] == texts[1]
    assert (
        sum(
            "(kept)" in getattr(r.variables, "original_query", "")
            for r in engine.requests
            if r.variables.name == "answer_simple"
        )
        == 1
    )


async def test_retranslated_answer_is_numbered(stack: tuple[Whole, Engine]) -> None:
    run, engine = stack
    engine.said, engine.hold = (
        lambda _: [
            "Les échelles doivent être contrôlées tous les 6 mois [4]. ",
            "Le magasin ouvre à neuf heures en semaine [3].",
        ],
        False,
    )
    engine.more = {"guard_language": f"{TEXTS[3].removesuffix('.')} [4]. {TEXTS[2].removesuffix('.')} [3]."}
    events, record = await run.ask(f"{QUESTION} ({next(_asked)})", contexts=CONTEXTS, release="draft", language="en")
    assert record.outcome == "answered"
    assert check(text_of(events), record, told(events)) == [1, 2]
    assert sources(record) == ["doc4.md", "doc3.md"]


async def test_conflict_notice_continues_the_numbers(stack: tuple[Whole, Engine]) -> None:
    run, engine = stack
    old = Context(
        content="Refunds are paid within 30 days of the return.",
        metadata=ContextMetadata(source_id="old.md", title="Old [7] terms"),
    )
    contexts = (CONTEXTS[2], old, CONTEXTS[0])
    engine.hold, engine.more = (
        False,
        {
            "select_evidence": '{"spans": ['
            + ", ".join(f'{{"passage": {n}, "text": "{c.content}"}}' for n, c in enumerate(contexts, start=1))
            + "]}"
        },
    )
    for release in ("sentence", "token", "draft"):
        engine.said = lambda evidence: [f"{evidence[3]} [3]."]
        events, record = await run.ask(f"{QUESTION} ({next(_asked)})", contexts=contexts, release=release)
        assert record.conflicts, record
        numbers = [n for marker in markers(text_of(events)) for n in marker.numbers]
        assert list(dict.fromkeys(numbers)) == [1, 2]
        assert sources(record) == ["doc1.md", "old.md"]
        (conflict,) = record.conflicts
        by_n = {c.n: c.cited_text for c in record.citations}
        assert conflict.first in by_n[conflict.first_n]
        assert conflict.second in by_n[conflict.second_n]


async def test_masking_moves_no_marker(stack: tuple[Whole, Engine]) -> None:
    def said(evidence: dict[int, str]) -> Iterable[str]:
        yield f"{evidence[4]} [4]. "
        yield f"Kim at kim.minsu@example.org says so: {evidence[2]} [2]. {evidence[3]} [3]."

    events, record = await ask(stack, said, release="draft")
    assert check(text_of(events), record, told(events))
