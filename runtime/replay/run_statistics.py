"""Many runs together: what each stage took, which runs are unusual, and Parquet files with a row a run and a row a sentence."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from actors.choosing.weights import SHOWN_FROM
from bus.runs.story import RunStory
from runtime.replay.explained import Explained, explained
from runtime.replay.run_rows import RunRow, row_of
from runtime.replay.trace import Trace

#: A value is rare if it tells so many bits: one in eight runs, or fewer, has it; of few runs, only one.
RARE_BITS = 3.0
#: How near a probability is to the threshold that it is called near, and how many bits that is, right at it.
NEAR, NEAR_BITS = 0.1, 5.0


class StageStats(msgspec.Struct, frozen=True, kw_only=True):
    """One stage over many runs. Times in seconds."""

    stage: str
    calls: int
    median_s: float
    p95_s: float
    fallbacks: int
    asks: int
    tokens_out: int


def stage_stats(traces: Sequence[Trace]) -> list[StageStats]:
    """In the order in which runs come to the stages."""
    calls = defaultdict(list)
    for trace in traces:
        for each in trace.story.stages:
            calls[each.stage.actor].append(each)
    return [
        StageStats(
            stage=name,
            calls=len(every),
            median_s=statistics.median(times := sorted(each.stage.took_s for each in every)),
            p95_s=times[max(0, math.ceil(0.95 * len(times)) - 1)],
            fallbacks=sum(bool(each.stage.fallback) for each in every),
            asks=sum(len(each.stage.asks) for each in every),
            tokens_out=sum(each.tokens_out for each in every),
        )
        for name, every in calls.items()
    ]


class Odd(msgspec.Struct, frozen=True, kw_only=True):
    """How unusual a run is, in bits, and why, what tells most first."""

    run_id: str
    question: str
    bits: float
    why: tuple[str, ...]


def odd_runs(traces: Sequence[Trace]) -> list[Odd]:
    """The unusual runs, the oddest first: rare ends, flags, fallbacks or paths, near a threshold, slow for their path."""
    stories = [trace.story for trace in traces]
    traits = [set(_traits(trace, story)) for trace, story in zip(traces, stories, strict=True)]
    counts = Counter(trait for each in traits for trait in each)
    times = defaultdict(list)
    for story in stories:
        if story.finished_at:
            times[_path(story)].append(story.finished_at - story.asked_at)
    medians = {path: statistics.median(every) for path, every in times.items()}
    found = []
    for story, own in zip(stories, traits, strict=True):
        rare = {trait: math.log2(len(stories) / counts[trait]) for trait in own}
        least = min(RARE_BITS, math.log2(len(stories)))
        told = {
            f"{trait} ({counts[trait]} of {len(stories)})": bits for trait, bits in rare.items() if 0 < least <= bits
        }
        told |= dict(_near(story)) | dict(_slow(story, medians.get(_path(story), 0.0)))
        if told:
            why = sorted(told, key=lambda one: (-told[one], one))
            bits = round(sum(told.values()), 1)
            found.append(Odd(run_id=story.run_id, question=story.question.question, bits=bits, why=tuple(why)))
    return sorted(found, key=lambda odd: -odd.bits)


def _path(story: RunStory) -> str:
    return " > ".join(dict.fromkeys(each.stage.actor for each in story.stages))


def _traits(trace: Trace, story: RunStory) -> Iterator[str]:
    row = row_of(trace.records)
    if row is None:
        return
    yield f"ended {row.outcome or 'not yet'}{f' ({row.reason})' if row.reason else ''}"
    yield from (f"flag {kind}" for kind in row.flags)
    yield f"path {_path(story)}"
    for each in story.stages:
        if each.stage.fallback:
            yield f"fallback of {each.stage.actor}: {each.stage.fallback.partition(':')[0]}"


def _near(story: RunStory) -> Iterator[tuple[str, float]]:
    choice = next((each.stage.choice for each in story.stages if each.stage.choice is not None), None)
    voice = next((question.voice for question in story.questions), None)
    if choice is not None and voice is not None:
        away = abs(choice.probability - SHOWN_FROM[voice])
        if away < NEAR:
            yield (
                f"probability {choice.probability:.2f}, {SHOWN_FROM[voice]:g} is needed",
                NEAR_BITS * (1 - away / NEAR),
            )


def _slow(story: RunStory, median: float) -> Iterator[tuple[str, float]]:
    took = (story.finished_at or story.asked_at) - story.asked_at
    if median and took > 2 * median:
        yield f"took {took * 1000:.0f} ms, its path {median * 1000:.0f} ms", 2 * math.log2(took / median)


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
