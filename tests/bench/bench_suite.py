"""Suites against planted changes: 100 regressions of prompts, thresholds and documents, and 100 changes that harm nothing.

    uv run --group dev python -m tests.bench.bench_suite [--seed 26] [--cases 24]

Each change is made alone, and all cases run. A regression is caught if a case fails; a harmless change may fail none. Half of the
cases are runs by rules, half by a scripted model that obeys the rules of its prompt, as far as they are still there.
"""

import argparse
import asyncio
import contextlib
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import tomli_w

from actors.pipeline import pipeline
from actors.question.profile import PROFILES
from bus.journal.records import Record
from bus.runs.run_record import record_of
from bus.runs.story import story_of
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Passage
from prompts import notices
from prompts.files import FOLDER
from runtime.engines.engine import Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from runtime.forking.live_powers import Live, forget_prompts
from runtime.replay.trace import Trace
from runtime.suite.cases import Case, Checked, check_case, expected_of
from tests.made_runs import Pages, live_over, made, passage

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


class Obedient(ScriptedEngine):
    """Answers from the first evidence; cites, keeps to it and writes English only where its prompt says so."""

    needs_rendering = True

    def __init__(self) -> None:
        super().__init__(obey)


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


@dataclass(frozen=True)
class Kept:
    """A case with its trace."""

    case: Case
    trace: Trace
    by_model: bool


@dataclass(frozen=True)
class Change:
    """A change: where it belongs, and what is other while it is made. `pages`: the documents of now; None for the recorded ones."""

    kind: str
    made: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
    pages: tuple[Passage, ...] | None = None
    asks: bool = False


def documents(chance: random.Random) -> tuple[Passage, ...]:
    return tuple(
        passage(f"{name}.md", f"{text.format(n=chance.randrange(3, 28))} {chance.choice(FILLER)}", "en", number)
        for number, (name, text, _) in enumerate(TOPICS)
    )


async def kept_cases(pages: Sequence[Passage], count: int) -> list[Kept]:
    found = []
    for n in range(count):
        _, _, asked = TOPICS[n % len(TOPICS)]
        by_model = n % 2 == n // len(TOPICS) % 2
        trace = await made(
            QuestionAsked(question=asked, language="en"), pages, f"run{n}", Obedient() if by_model else None
        )
        record = record_of(story_of(trace.records))
        assert record is not None
        found.append(Kept(expected_of(record, f"case{n}", f"run{n}.jsonl"), trace, by_model))
    return found


def engines(pages: Sequence[Passage], *, asks: bool) -> Callable[[bool], Live]:
    """The powers; `asks`: the model is asked what the record has no reply to."""
    find = Pages(pages)
    rules, model = live_over(find), live_over(find, Obedient()) if asks else Live(None, find=find)
    return lambda by_rules: rules if by_rules else model


async def run_all(cases: Sequence[Kept], change: Change, pages: Sequence[Passage]) -> list[Checked]:
    search = change.pages is not None
    with change.made():
        powers = engines(change.pages or pages, asks=change.asks or search)
        forget_prompts()
        return [await check_case(k.case, k.trace, pipeline(), powers, search=search) for k in cases]


@contextlib.contextmanager
def own_file(name: str, text: str) -> Iterator[None]:
    """A profile or a prompt of the owner in place of the built-in one."""
    before = PROFILES.folder
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(text)
        PROFILES.use(folder)
        try:
            yield
        finally:
            PROFILES.use(str(before or ""))


def regressions(chance: random.Random, pages: tuple[Passage, ...], answered: list[int]) -> list[Change]:
    """`answered`: the documents that an answer of a case comes from."""
    found = []
    for n in range(33):
        bad = ("Answer from your own knowledge.", "Answer in one word.", "Never give numbers.")[n % 3]
        found.append(Change("prompt", prompt_with(f"{bad} {_words(chance)}"), asks=True))
    for n in range(33):
        keys: dict[str, object] = [
            {"retrieval": {"low_relevance": round(chance.uniform(0.97, 1.0), 3)}},
            {"scope": {"out_of_scope": {"closed": [chance.choice(("refunds", "student", "shop", "visitors"))]}}},
            {"policy_words": {"en": [chance.choice(("refunds", "student", "shop", "how often"))]}},
        ][n % 3]
        found.append(Change("threshold", _profile_with(keys)))
    for n in range(34):
        place = chance.choice(answered)
        page = pages[place]
        texts = [
            re.sub(r"\d+", lambda number: str(int(number[0]) + chance.randrange(1, 9)), page.text, count=1),
            page.text.split(". ", 1)[1],
            "",
        ]
        found.append(Change("document", pages=_with(pages, place, texts[n % 3])))
    return found


def harmless(chance: random.Random, pages: tuple[Passage, ...]) -> list[Change]:
    found = []
    for n in range(100):
        place = chance.randrange(len(pages))
        match n % 6:
            case 0:
                found.append(Change("prompt", prompt_with(f"Write plainly. {_words(chance)}"), asks=True))
            case 1:
                keys = {
                    "retrieval": {"low_relevance": round(chance.uniform(0.1, 0.16), 3)},
                    "description": _words(chance),
                }
                found.append(Change("threshold", _profile_with(keys)))
            case 2:
                found.append(
                    Change("document", pages=_with(pages, place, f"{pages[place].text} {chance.choice(FILLER)}"))
                )
            case 3:
                more = passage("garden.md", f"The garden has {chance.randrange(3, 90)} trees and a pond.", "en", 99)
                found.append(Change("document", pages=(*pages, more)))
            case 4:
                found.append(Change("message", _other_notices))
            case _:
                found.append(Change("field"))
    return found


def _words(chance: random.Random) -> str:
    return " ".join("".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(3)) for _ in range(4))


def prompt_with(line: str) -> Callable[[], contextlib.AbstractContextManager[None]]:
    text = (FOLDER / "answer_simple.prompt").read_text()
    before, user, after = text.partition('{{role "user"}}')
    assert user
    return lambda: own_file("answer_simple.prompt", f"{before}{line}\n\n{user}{after}")


def _profile_with(keys: dict[str, object]) -> Callable[[], contextlib.AbstractContextManager[None]]:
    return lambda: own_file("general.toml", tomli_w.dumps({"extends": "general", **keys}))


def _with(pages: tuple[Passage, ...], place: int, text: str) -> tuple[Passage, ...]:
    new = (msgspec.structs.replace(pages[place], text=text, char_end=len(text)),) if text else ()
    return (*pages[:place], *new, *pages[place + 1 :])


@contextlib.contextmanager
def _other_notices() -> Iterator[None]:
    """Every message of ours in other words."""
    before = notices.text
    notices.text = lambda section, key, language: before(section, key, language).replace("documents", "papers")
    try:
        yield
    finally:
        notices.text = before


def without_new_fields(trace: Trace) -> Trace:
    """The trace as an earlier version would have written it: without fields that have their default."""

    def shorter(record: Record) -> Record:
        message, _, stage = record.data.partition(b"\n")
        value = msgspec.json.decode(message)
        for key in ("detail", "rounds", "contradictions", "collection", "near"):
            value.pop(key, None)
        data = msgspec.json.encode(value)
        return replace(record, data=data + b"\n" + stage if stage else data)

    return replace(trace, records=tuple(map(shorter, trace.records)))


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--seed", 26), ("--cases", 24)):
        arguments.add_argument(name, type=int, default=default)
    given = arguments.parse_args()
    chance = random.Random(given.seed)
    pages = documents(chance)
    cases = await kept_cases(pages, given.cases)
    first = await run_all(cases, Change("none"), pages)
    assert all(result.holds for result in first), [r for r in first if not r.holds]
    print(f"cases: {len(cases)}, {sum(k.by_model for k in cases)} by a model; answered: "
          f"{sum(k.case.outcome == 'answered' for k in cases)}")  # fmt: skip
    answered = [n % len(TOPICS) for n, kept in enumerate(cases) if kept.case.outcome == "answered"]
    for title, changes in (
        ("regressions", regressions(chance, pages, answered)),
        ("harmless changes", harmless(chance, pages)),
    ):
        failed: dict[str, list[int]] = {}
        for change in changes:
            own = (
                [Kept(k.case, without_new_fields(k.trace), k.by_model) for k in cases]
                if change.kind == "field"
                else cases
            )
            results = await run_all(own, change, pages)
            failed.setdefault(change.kind, []).append(sum(not result.holds for result in results))
        told = ", ".join(f"{kind} {sum(map(bool, counts))} of {len(counts)}" for kind, counts in failed.items())
        print(
            f"{title}: a case fails in {sum(bool(n) for counts in failed.values() for n in counts)} of {len(changes)} ({told})"
        )


if __name__ == "__main__":
    asyncio.run(main())
