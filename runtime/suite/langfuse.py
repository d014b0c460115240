"""Cases as items of a Langfuse dataset, one JSON object a line, as its API takes them (`POST /api/public/dataset-items`), and back.

An item's `id` is the name of the case, `input` the question, `expectedOutput` what is expected, and `sourceTraceId` the run.
An item of another source has a question and a text: its case needs no recorded run, and is checked over an index.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bus.journal.records import Record, encode
from bus.wire.messages import QuestionAsked
from bus.wire.subjects import BadId, Key, check_id
from runtime.replay.trace import ASKED, Trace
from runtime.suite.cases import NUMBER, BrokenSuite, Case, Suite

_EXPECTED = ("outcome", "reason", "says", "never_says", "cites", "never_cites", "flags")


class Item(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An item as Langfuse takes and gives it; other fields are ignored."""

    dataset_name: str = ""
    input: Any = None
    expected_output: Any = None
    metadata: Any = None
    source_trace_id: str | None = None
    id: str | None = None
    status: str | None = None


_decode = msgspec.json.Decoder(Item).decode


def items_of(suite: Suite, dataset: str) -> Iterator[Item]:
    """Each case as an item of that dataset."""
    for case in suite.case:
        told = msgspec.to_builtins(case)
        yield Item(
            dataset_name=dataset,
            id=case.name,
            input={"question": case.question},
            expected_output={key: told[key] for key in _EXPECTED if key in told},
            metadata={"note": case.note, "trace": case.run},
            source_trace_id=case.run.partition(".")[0],
            status="ACTIVE",
        )


def cases_in(path: Path, suite: Suite) -> tuple[Suite, dict[str, Trace]]:
    """The suite with the items of a file: known names change, new ones are added, with traces of their questions alone.

    Raises BrokenSuite.
    """
    cases = {case.name: case for case in suite.case}
    traces = {}
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BrokenSuite(f"{path}: cannot be read ({error.strerror})") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = _decode(line)
            if item.status == "ARCHIVED":
                continue
            case = _case_of(item, cases, f"item-{number}")
            if case.name not in cases:
                traces[case.run] = asked_alone(case.run.partition(".")[0], case.question)
        except (msgspec.DecodeError, BadId, ValueError) as error:
            raise BrokenSuite(f"{path}, line {number}: {error}") from None
        cases[case.name] = case
    return msgspec.structs.replace(suite, case=tuple(cases.values())), traces


def _case_of(item: Item, known: dict[str, Case], otherwise: str) -> Case:
    asked = item.input.get("question", item.input.get("input")) if isinstance(item.input, dict) else item.input
    if not isinstance(asked, str) or not asked.strip():
        raise ValueError("the input has no question; write it as a text, or as an object with `question`")
    name = item.id or otherwise
    note = item.metadata.get("note", "") if isinstance(item.metadata, dict) else ""
    told = item.expected_output
    expected = {key: told[key] for key in _EXPECTED if key in told} if isinstance(told, dict) else _of_text(told)
    run = known[name].run if name in known else f"{check_id(_id_of(name))}.jsonl"
    return msgspec.convert({"name": name, "run": run, "question": asked, "note": note, **expected}, Case)


def _of_text(text: object) -> dict[str, object]:
    """An answer in other words than ours: its numbers must be there; without numbers only that it is answered."""
    return {"outcome": "answered", "says": list(dict.fromkeys(NUMBER.findall(text))) if isinstance(text, str) else []}


def _id_of(name: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in name)[:64]


def asked_alone(run_id: str, question: str) -> Trace:
    """The trace of a question that was never asked: its first record."""
    return Trace(run_id, (Record(Key(ASKED, run_id), 1, 0.0, encode(QuestionAsked(question=question)), {}),))


def dumped(items: Sequence[Item]) -> bytes:
    return b"".join(msgspec.json.encode(item) + b"\n" for item in items)
