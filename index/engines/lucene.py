"""Lucene as the engine of the terms: one index per language in the folder `lucene` of a snapshot (bm25.py)."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from index.build_job import Job, Tell
from index.engines import bm25
from index.errors import IndexProblem
from index.java import jvm
from index.model import Passage
from index.snapshot.segment import Segment, read_codes
from index.snapshot.snapshot import link_tree
from index.snapshot.store import PassageStore


def warm_up() -> None:
    with contextlib.suppress(IndexProblem):  # `update` reports the problem
        jvm.start(build=True)
        jvm.detach()


def update(job: Job, tell: Tell) -> dict[str, float]:
    """Returns the passages per language after the work, keyed `language.LANGUAGE`, for languages that changed."""
    building = Path(job.building)
    parent = Path(job.parent) if job.parent else None
    new = [Path(path) for path in job.new]
    added = [Segment(path) for path in new]
    total = sum(map(len, added))
    results: dict[str, float] = {}
    done = 0
    for language in sorted(job.languages.keys() | {name for segment in added for name in segment.languages}):
        directory = building / "lucene" / language
        if parent is not None and (parent / "lucene" / language).is_dir():
            link_tree(parent / "lucene" / language, directory)
        else:
            directory.mkdir(parents=True)
        removed = job.languages.get(language, [])
        here = any(language in segment.languages for segment in added)
        if here or removed:
            passages = _in_language(language, added, new, partial(_tell, tell, done, total))
            results[f"language.{language}"], more = bm25.update(directory, language, passages, removed)
            done += more
    tell("bm25", total, total)
    return results


def _tell(tell: Tell, before: int, total: int, done: int) -> None:
    tell("bm25", before + done, total)


def _in_language(
    language: str, segments: list[Segment], paths: list[Path], tell: Callable[[int], None]
) -> Iterator[tuple[Passage, str]]:
    done = 0
    for segment, path in zip(segments, paths, strict=True):
        if language not in segment.languages:
            continue
        opened = Segment(path)  # again, so that its pages do not stay in memory
        codes = read_codes(path)
        for position in opened.in_language(language).tolist():
            if done % 500 == 0:
                tell(done)
            yield opened.read(position), codes[position]
            done += 1


def open_index(snapshot: Path, languages: Mapping[str, int]) -> bm25.Bm25:
    """Raises IndexProblem."""
    return bm25.Bm25(snapshot / "lucene", languages, lambda: PassageStore(snapshot / "passages"))


def problems(snapshot: Path, languages: Mapping[str, int]) -> list[str]:
    """Starts the Java machine. Raises IndexProblem."""
    jvm.start()
    wrong: list[str] = []
    for language, expected in sorted(languages.items()):
        try:
            result = bm25.count(snapshot / "lucene" / language)
        except jvm.java_error() as error:
            wrong.append(str(error))
            continue
        if result != expected:
            wrong.append(f"Lucene index {language} holds {result} passages, not {expected}")
    return wrong
