"""A lying engine behind the real stream: how many lies are shown, how many truths are withheld, and the gate's cost.

    uv run python -m tests.bench.bench_gate_stream PASSAGES.jsonl... [--sentences 1000] [--seed 1]

Each file has lines `{source_id, title, text, language}`. Without files it uses the demo's documents. Half of the engine's
sentences are true, word for word; the other half have a number, negation, quotation or citation changed. Questions are asked
one at a time, ten sentences each, through actors, bus and a nats-server in this process, with a verifier that finds nothing.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from groundwire.wire import Context, ContextMetadata

from actors.gate.check import check_sentence
from bus.wire.messages import QuestionAsked
from index.languages import LANGUAGES
from prompts import contracts as c
from prompts.vocabulary import Language
from runtime.engines.engine import Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from tests.bench.stacks import DEMO
from tests.lies import LIES, Kind, Passage, Said, Source, passages_in, tellable, told
from tests.whole import whole

SOURCES = 4
SENTENCES = 10
LONGEST = 6000  # characters of a passage; a question takes no context beyond 20,000
TURNED: tuple[Kind, ...] = (*LIES, "miscited")
TRUE: tuple[Kind, ...] = ("true", "true", "true_quote") * 2
#: The kinds of sentences in turn: half are true, a third of those in quotation marks.
ROUND: tuple[Kind, ...] = tuple(kind for lie, true in zip(TURNED, TRUE, strict=True) for kind in (lie, true))
QUESTIONS = {
    "ko": "이 문서들은 무엇을 말하고 있나요?", "en": "What do these documents say?", "zh": "这些文件说了什么？",
    "es": "¿Qué dicen estos documentos?", "fr": "Que disent ces documents ?", "ar": "ماذا تقول هذه المستندات؟",
}  # fmt: skip


class Answer(msgspec.Struct):
    """The engine's answer to one question, and its subject."""

    language: Language
    sources: list[Source]
    said: list[Said]


def demo_passages() -> list[Passage]:
    return list(passages_in([DEMO / "documents"]))


def answers(passages: Sequence[Passage], count: int, seed: int) -> Iterator[Answer]:
    """Answers in the languages in turn, `count` sentences in all, or fewer if the passages run out."""
    rng = random.Random(seed)
    by_language = {
        language: [p for p in passages if p.language == language and len(p.text) < LONGEST and tellable(p.text)]
        for language in LANGUAGES
    }
    wanted: dict[str, int] = {language: count // len(LANGUAGES) for language in LANGUAGES}
    turn = 0
    for language in LANGUAGES:
        pool = by_language[language]
        while wanted[language] > 0 and len(pool) >= SOURCES:
            chosen = rng.sample(pool, SOURCES)
            sources = [Source(n, p.text) for n, p in enumerate(chosen, 1)]
            said: list[Said] = []
            for _ in range(SENTENCES * 6):
                if len(said) == min(SENTENCES, wanted[language]):
                    break
                kind = ROUND[turn % len(ROUND)]
                source = rng.choice(sources)
                one = told(rng.choice(tellable(source.text)), source, sources, language, kind, rng)
                if one is not None and not any(one.text == other.text for other in said):
                    turn += 1
                    said.append(one)
            wanted[language] -= len(said) or 1
            if said:
                yield Answer(language, sources, said)


class Liar:
    """The script: picks whole passages as evidence and gives the prepared answers."""

    def __init__(self) -> None:
        self.answer: Answer | None = None

    def __call__(self, request: Request) -> str | list[str]:
        assert self.answer is not None
        v = request.variables
        if isinstance(v, c.SelectEvidence):
            spans = [{"passage": n, "text": chunk.content} for n, chunk in enumerate(v.retrieved_chunks, 1)]
            return json.dumps({"spans": spans}, ensure_ascii=False)
        if isinstance(v, c.AnswerSimple):
            by_text = {e.text: e.n for e in v.retrieved_chunks}
            assert [by_text.get(s.text.strip()) for s in self.answer.sources] == [s.n for s in self.answer.sources]
            text = " ".join(one.text for one in self.answer.said)
            return [text[at : at + 7] for at in range(0, len(text), 7)]
        return default_script(request)


async def tell(all_answers: Sequence[Answer]) -> list[tuple[Said, bool]]:
    """Every sentence in order, with whether it was shown to the client."""
    liar = Liar()
    found: list[tuple[Said, bool]] = []
    with tempfile.TemporaryDirectory() as folder:
        async with whole(Path(folder), ScriptedEngine(liar), cache_entries=0) as running:
            for answer in all_answers:
                liar.answer = answer
                contexts = tuple(
                    Context(content=s.text.strip(), metadata=ContextMetadata(source_id=f"s{s.n}"), score=1.0 - s.n / 10)
                    for s in answer.sources
                )
                result = await running.tell(
                    QuestionAsked(
                        question=QUESTIONS[answer.language], language=answer.language, contexts=contexts, style="simple"
                    )
                )
                found += [(one, one.shown_in(result.said)) for one in answer.said]
    return found


def added_ms(all_answers: Sequence[Answer]) -> tuple[list[float], float]:
    """The gate's wall time per sentence, including reading the evidence, and its mean CPU time."""
    took = []
    first = all_answers[0]
    check_sentence(first.said[0].text, [], language=first.language)
    began_cpu = time.process_time()
    for answer in all_answers:
        evidence = [c.Evidence(n=s.n, source_id=f"s{s.n}", title="", text=s.text) for s in answer.sources]
        for one in answer.said:
            began = time.perf_counter()
            check_sentence(one.text, evidence, language=answer.language)
            took.append((time.perf_counter() - began) * 1000)
    return took, (time.process_time() - began_cpu) * 1000 / len(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("passages", nargs="*", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="print every lie shown and every truth withheld")
    arguments = parser.parse_args()
    passages = list(passages_in(arguments.passages)) or demo_passages()
    chosen = list(answers(passages, arguments.sentences, arguments.seed))
    took, cpu = added_ms(chosen)
    results = asyncio.run(tell(chosen))
    table: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for said, shown in results:
        true = said.kind in ("true", "true_quote")
        wrong = not shown if true else shown
        for language in (said.language, "all"):
            table[language, said.kind].append(wrong)
            if said.kind != "miscited":
                table[language, "truths" if true else "lies"].append(wrong)
        if wrong and arguments.verbose:
            print("WITHHELD" if true else "SHOWN   ", said.language, said.kind, said.text, "|", said.change)
    kinds = (*LIES, "lies", "true", "true_quote", "truths", "miscited")
    print(f"{'':5}" + "".join(f"{kind:>16}" for kind in kinds))
    for language in (*LANGUAGES, "all"):
        cells = [table.get((language, kind), []) for kind in kinds]
        print(
            f"{language:5}"
            + "".join(f"{sum(cell):>5}/{len(cell):<4}{sum(cell) / max(1, len(cell)):>6.1%}" for cell in cells)
        )
    print("lies: share shown; truths: share withheld")
    slowest = sorted(took)[int(len(took) * 0.99)]
    p50 = statistics.median(took)
    print(f"added per sentence: {cpu:.2f} ms of CPU time; wall time p50 {p50:.2f}, p99 {slowest:.2f} ms")


if __name__ == "__main__":
    main()
