"""Runs as data frames: a Parquet file with a row for each run, and beside it a file with a row for each sentence."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from runtime.replay.explained import Explained, explained
from runtime.replay.run_rows import RunRow, row_of
from runtime.replay.trace import Trace

type Row = Mapping[str, object]


def write_frame(traces: Sequence[Trace], path: Path) -> dict[Path, int]:
    """The files written, each with its number of rows. Raises ImportError without pyarrow, OSError."""
    import pyarrow
    from pyarrow import parquet

    runs = [(row, explained(trace)) for trace in traces if (row := row_of(trace.records)) is not None]
    found = [_run(row, run) for row, run in runs]
    names = dict.fromkeys(name for each in found for name in each)
    rows: dict[Path, list[Row]] = {
        path: [{name: each.get(name) for name in names} for each in found],
        path.with_name(f"{path.stem}.sentences{path.suffix}"): [each for _, run in runs for each in _sentences(run)],
    }
    for place, every in rows.items():
        parquet.write_table(pyarrow.Table.from_pylist(every), place)
    return {place: len(every) for place, every in rows.items()}


def _run(row: RunRow, run: Explained) -> Row:
    record, stages = run.record, dict[str, float]()
    for each in record.stages:
        stages[f"{each.stage}_s"] = stages.get(f"{each.stage}_s", 0.0) + each.took_s
    plain = {"answer": record.answer, "model": record.model, "withheld_share": record.withheld_share}
    return {**msgspec.to_builtins(row), **plain, **stages}


def _sentences(run: Explained) -> Iterator[Row]:
    for n, told in enumerate(run.sentences, 1):
        yield {
            "run_id": run.record.run_id,
            "n": n,
            "text": told.text,
            "standing": told.standing,
            "flags": [flag.kind for flag in told.flags],
            "why": [flag.why for flag in told.flags],
            "sources": [cited.source_id for cited in told.cited],
            "cited": [cited.text for cited in told.cited],
        }
