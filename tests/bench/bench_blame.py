"""Runs with a planted fault in one part of the pipeline: does `trace blame` name the part?

    uv run --group dev python -m tests.bench.bench_blame [--seed 26] [--runs 500]

Each run is recorded with a fault in retrieval, choice, prompt, gate or document, and blamed without it. Half of them are by a model
that obeys its prompt, sometimes lies and sometimes cites nothing, so runs end in every way. A run that ends the same with and
without its fault is left out: nothing turns it.
"""

import argparse
import asyncio
import contextlib
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import msgspec

from actors.answering import sentence_check
from actors.choosing import choose
from actors.gate import flags
from actors.pipeline import pipeline
from actors.question.profile import PROFILES
from actors.selecting import chosen
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Passage
from prompts.contracts import EvidencePick, SelectEvidence
from prompts.files import FOLDER
from runtime.engines.engine import Engine, Request
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from runtime.forking.blame import blame
from runtime.forking.live_powers import forget_prompts
from runtime.replay.trace import Trace
from tests.made_runs import Pages, live_over, made, passage

FAULTS = ("retrieval", "choice", "prompt", "gate", "document")
BAD_PROMPTS = ("Answer from your own knowledge.", "Answer in one word.", "Never give numbers.")


TOPICS = (
    ("refunds", "Refunds are paid within {n} days of the return.", "How many days until refunds are paid?"),
    ("opening", "The shop opens at {n} in the morning on weekdays.", "At which hour does the shop open on weekdays?"),
    ("loans", "A student may borrow {n} books from the library.", "How many books may a student borrow?"),
    ("absence", "A student may miss {n} seminars in a term.", "How many seminars may a student miss?"),
    ("fees", "The deposit for a laboratory key is {n} euros.", "How much is the deposit for a laboratory key?"),
    ("alarm", "The fire alarm is tested every {n} weeks.", "How often is the fire alarm tested?"),
    ("parking", "Visitors may park for {n} hours in the yard.", "For how many hours may visitors park?"),
    ("ladders", "Ladders are inspected every {n} months.", "How often are ladders inspected?"),
    ("deliveries", "Deliveries are accepted until {n} in the evening.", "Until when are deliveries accepted?"),
    ("badges", "A lost badge is replaced within {n} working days.", "Within how many working days is a lost badge replaced?"),
    ("meals", "The canteen serves {n} different meals on Fridays.", "How many different meals does the canteen serve on Fridays?"),
    ("trains", "The shuttle leaves every {n} minutes from the gate.", "How often does the shuttle leave from the gate?"),
)  # fmt: skip
FILLER = (
    "The wall is painted in a light grey.",
    "A plant stands beside the window.",
    "The floor was cleaned last spring.",
)


def documents(chance: random.Random) -> tuple[Passage, ...]:
    return tuple(
        passage(f"{name}.md", f"{text.format(n=chance.randrange(3, 28))} {chance.choice(FILLER)}", "en", number)
        for number, (name, text, _) in enumerate(TOPICS)
    )


def obey(request: Request) -> str:
    evidence = getattr(request.variables, "retrieved_chunks", ())
    if request.variables.name != "answer_simple" or not evidence or request.rendered is None:
        return default_script(request)
    system = request.rendered.system
    sentence = re.split(r"(?<=\.) ", evidence[0].text)[0].strip(" .")
    if "own knowledge" in system:
        sentence = re.sub(r"\d+", lambda number: str(int(number[0]) + 5), sentence)
    if "one word" in system:
        return "Yes [1]."
    if "Never give numbers" in system:
        sentence = re.sub(r"\d+", "some", sentence)
    return f"{sentence} [1]." if "[1]" in system or "cit" in system.casefold() else f"{sentence}."


@contextlib.contextmanager
def prompt_with(line: str) -> Iterator[None]:
    """The answering prompt with one line more, as its owner's file."""
    before, user, after = (FOLDER / "answer_simple.prompt").read_text().partition('{{role "user"}}')
    assert user
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "answer_simple.prompt").write_text(f"{before}{line}\n\n{user}{after}")
        owner = PROFILES.folder
        PROFILES.use(folder)
        try:
            yield
        finally:
            PROFILES.use(str(owner or ""))


class Human(ScriptedEngine):
    """Obeys prompt and suggestions, but repeats some evidence with another number or without a citation: always the same of it."""

    needs_rendering = True

    def __init__(self) -> None:
        super().__init__(_say)


def _say(request: Request) -> str:
    if isinstance(request.variables, SelectEvidence) and request.variables.suggested:
        return msgspec.json.encode(EvidencePick(spans=request.variables.suggested)).decode()
    evidence = getattr(request.variables, "retrieved_chunks", ())
    if request.variables.name != "answer_simple" or not evidence:
        return default_script(request)
    said, mood = obey(request), random.Random(evidence[0].text).random()
    if mood < 0.2:
        return re.sub(r"(?<!\[)\d+", lambda number: str(int(number[0]) + 7), said, count=1)
    return said.replace(" [1]", "") if mood < 0.3 else said


@contextlib.contextmanager
def planted(fault: str, chance: random.Random) -> Iterator[None]:
    """What is broken in the code or the prompts while the run is recorded."""
    with contextlib.ExitStack() as stack:
        if fault == "choice" and chance.random() < 0.5:
            stack.enter_context(mock.patch.object(chosen, "shows", return_value=False))
            stack.enter_context(mock.patch.object(chosen, "HIGH", 2.0))
        elif fault == "choice":
            right = choose.rank
            stack.enter_context(mock.patch.object(choose, "rank", lambda *given: right(*given)[::-1]))
        elif fault == "gate":
            objections = [flags.flag("fabricated_number", "1", (1,), "planted")] if chance.random() < 0.5 else []
            stack.enter_context(mock.patch.object(sentence_check, "check_sentence", return_value=objections))
        elif fault == "prompt":
            stack.enter_context(prompt_with(chance.choice(BAD_PROMPTS)))
        forget_prompts()
        yield
    forget_prompts()


def before(fault: str, pages: tuple[Passage, ...], source: str, chance: random.Random) -> tuple[Passage, ...]:
    """The pages that were there when the run was recorded."""
    if fault not in ("retrieval", "document"):
        return pages
    others = tuple(page for page in pages if page.source_id != source)
    if fault == "retrieval":
        return others
    page = next(page for page in pages if page.source_id == source)
    other = chance.choice((lambda n: str(int(n[0]) + 1), lambda _: "a few"))
    text = re.sub(r"\d+", other, page.text)
    return (*others, msgspec.structs.replace(page, text=text, char_end=len(text)))


def end(trace: Trace) -> tuple[object, ...]:
    record = trace.record
    return record.outcome, record.reason, record.answer, [citation.source_id for citation in record.citations]


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seed", type=int, default=26)
    arguments.add_argument("--runs", type=int, default=500)
    given = arguments.parse_args()
    chance = random.Random(given.seed)
    right, runs, ends, wrong = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    without_effect, number, used = 0, 0, 0.0
    while sum(runs.values()) < given.runs:
        number += 1
        fault, (name, _, question) = min(FAULTS, key=lambda each: runs[each]), TOPICS[number % len(TOPICS)]
        decoy = f"Whoever asks {question[0].lower()}{question[1:-1]} goes to the desk on the ground floor."
        pages = (*documents(chance), *([passage("desk.md", decoy, "en", 99)] if chance.random() < 0.5 else []))
        by_rules = fault != "prompt" and chance.random() < 0.5
        engine: Engine = ExtractiveEngine() if by_rules else Human()
        asked = QuestionAsked(question=question, language="en")
        model = None if by_rules else engine
        whole = await made(asked, pages, f"run{number}", model)
        with planted(fault, chance):
            trace = await made(asked, before(fault, pages, f"{name}.md", chance), f"run{number}", model)
        if end(trace) == end(whole):
            without_effect += 1
            continue
        began = time.process_time()
        found = await blame(trace, pipeline(), live_over(Pages(pages), engine))
        used += time.process_time() - began
        runs[fault] += 1
        ends[str(trace.record.outcome)] += 1
        right[fault] += found.part == fault
        if found.part != fault:
            wrong[f"{fault} as {found.part or 'nothing'}"] += 1
    told = ", ".join(f"{fault} {right[fault]} of {runs[fault]}" for fault in FAULTS)
    print(f"runs: {given.runs}, {dict(ends)}; left out, since the fault changed nothing: {without_effect}")
    print(
        f"named: {right.total()} of {given.runs} = {right.total() / given.runs:.3f} ({told}); otherwise: {dict(wrong)}"
    )
    print(f"processor time a run: {1000 * used / given.runs:.0f} ms")


if __name__ == "__main__":
    asyncio.run(main())
