"""Trace files: they read back byte for byte, and errors in one are reported with their line."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.pipeline import pipeline
from bus.journal.records import Record
from bus.wire.subjects import Key
from runtime.replay.replayer import replay
from runtime.replay.trace import BrokenTrace, Trace, dump, load, own, read, write
from tests.runtime.replay.conftest import QUESTIONS


def plain(trace: Trace) -> Trace:
    """Without what the server adds to each reading."""
    records = tuple(dataclasses.replace(r, headers=own(r.headers)) for r in trace.records)
    frames = tuple(dataclasses.replace(f, headers=own(f.headers)) for f in trace.frames)
    return Trace(trace.run_id, records, frames)


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_file_holds_the_whole_run(traces: dict[str, Trace], tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.jsonl"
    write(path, traces[name])
    again = read(path)
    assert again == plain(traces[name])
    assert [r.data for r in again.records] == [r.data for r in traces[name].records]
    assert (await replay(again, pipeline())) == (await replay(traces[name], pipeline()))


def test_invalid_json_is_kept() -> None:
    junk = Record(Key("question_asked", "r1"), 7, 1.5, b"\xff{ not json\nat all", {})
    assert load(list(dump(Trace("r1", (junk,)))), name="file").records == (junk,)


def changed(number: int, change: Callable[[bytes], bytes | None]) -> Callable[[list[bytes]], list[bytes]]:
    def apply(lines: list[bytes]) -> list[bytes]:
        new = change(lines[number - 1])
        return [*lines[: number - 1], *([] if new is None else [new]), *lines[number:]]

    return apply


BROKEN = [
    (lambda lines: [], "file: the file is empty"),
    (changed(1, lambda line: None), "file, line 1: the header is missing"),
    (changed(1, lambda line: line.replace(b'"version":1', b'"version":9')), "file, line 1: a trace of version 9"),
    (changed(1, lambda line: line.replace(b'"run_id":"', b'"run_id":"a.')), "file, line 1: 'a."),
    (lambda lines: [lines[0], *lines], "file, line 2: a second header"),
    (changed(3, lambda line: line[: len(line) // 2]), "file, line 3: Input data was truncated"),
    (changed(3, lambda line: b"\xff" + line), "file, line 3: "),
    (changed(3, lambda line: line.replace(b'"sequence"', b'"number"')), "file, line 3: Object missing required field"),
    (changed(3, lambda line: line.replace(b'"gw.', b'"xx.')), "file, line 3: 'xx."),
    (changed(3, lambda line: None), "file, line 3: record "),
    (lambda lines: [*lines[:3], lines[2], *lines[3:]], "is there twice; a line was lost or moved"),
    (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "is not above it; a line was lost or moved"),
]


@pytest.mark.parametrize(("change", "says"), BROKEN)
def test_bad_file_is_reported(
    traces: dict[str, Trace], change: Callable[[list[bytes]], list[bytes]], says: str
) -> None:
    lines = change(list(dump(traces["simple"])))
    with pytest.raises(BrokenTrace) as broken:
        load(lines, name="file")
    assert says in str(broken.value)
    assert "\n" not in str(broken.value)


def test_records_of_another_run_are_refused(traces: dict[str, Trace]) -> None:
    one, other = (list(dump(traces[name])) for name in ("simple", "declined"))
    with pytest.raises(BrokenTrace, match="file, line 2: a record of run"):
        load([one[0], *other[1:]], name="file")
