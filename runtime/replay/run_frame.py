"""Runs as a Parquet file for data frames: a row for each run, and beside it a file with a row for each sentence."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from runtime.replay.explained import explained
from runtime.replay.run_rows import row_of
from runtime.replay.trace import Trace

type Row = Mapping[str, object]


def write_frame(traces: Sequence[Trace], path: Path) -> dict[Path, int]:
    """The files written, each with its number of rows. Raises ImportError without pyarrow, OSError."""
    import pyarrow
    from pyarrow import parquet

    rows = {path: _runs(traces), path.with_name(f"{path.stem}.sentences{path.suffix}"): _sentences(traces)}
    for each, found in rows.items():
        parquet.write_table(pyarrow.Table.from_pylist(found), each)
    return {each: len(found) for each, found in rows.items()}


def _runs(traces: Sequence[Trace]) -> list[Row]:
    found: list[Row] = []
    for trace in traces:
        row = row_of(trace.records)
        if row is not None:
            record = explained(trace).record
            stages: dict[str, float] = {}
            for each in record.stages:
                stages[f"{each.stage}_s"] = stages.get(f"{each.stage}_s", 0.0) + each.took_s
            plain = {"answer": record.answer, "model": record.model, "withheld_share": record.withheld_share}
            found.append({**msgspec.to_builtins(row), **plain, **stages})
    names = dict.fromkeys(name for row in found for name in row)
    return [{name: row.get(name) for name in names} for row in found]


def _sentences(traces: Sequence[Trace]) -> list[Row]:
    return [
        {
            "run_id": trace.run_id,
            "n": n,
            "text": told.text,
            "standing": told.standing,
            "flags": [flag.kind for flag in told.flags],
            "why": [flag.why for flag in told.flags],
            "sources": [cited.source_id for cited in told.cited],
            "cited": [cited.text for cited in told.cited],
        }
        for trace in traces
        if row_of(trace.records) is not None
        for n, told in enumerate(explained(trace).sentences, 1)
    ]
