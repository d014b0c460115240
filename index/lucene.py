"""Lucene as the engine of the terms: one index per language in the folder `lucene` of a snapshot (bm25.py)."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from index import bm25, jvm
from index.build_job import Job, Tell
from index.errors import IndexProblem
from index.model import Passage
from index.snapshot import link_tree
from index.store import Segment, read_codes


def warm_up() -> None:
    with contextlib.suppress(IndexProblem):  # `update` says what is wrong
        jvm.start(brief=True)
        jvm.detach()


def update(job: Job, tell: Tell) -> dict[str, float]:
    """Returns the passages per language after the work, keyed `language.LANGUAGE`, for languages that changed."""
    building = Path(job.building)
    parent = Path(job.parent) if job.parent else None
    added: dict[str, list[tuple[Segment, int, str]]] = {}
    for path in job.new:
        segment = Segment(Path(path))
        for place, (passage, codes) in enumerate(zip(segment, read_codes(Path(path)), strict=True)):
            added.setdefault(passage.language, []).append((segment, place, codes))
    total = sum(map(len, added.values()))
    results: dict[str, float] = {}
    done = 0
    for language in sorted(added.keys() | job.languages.keys()):
        directory = building / "lucene" / language
        if parent is not None and (parent / "lucene" / language).is_dir():
            link_tree(parent / "lucene" / language, directory)
        else:
            directory.mkdir(parents=True)
        places = added.get(language, [])
        removed = job.languages.get(language, [])
        if places or removed:
            results[f"language.{language}"] = bm25.update(
                directory, language, _told(places, done, total, tell), removed
            )
        done += len(places)
    tell("bm25", total, total)
    return results


def _told(places: list[tuple[Segment, int, str]], before: int, total: int, tell: Tell) -> Iterator[tuple[Passage, str]]:
    for done, (segment, place, codes) in enumerate(places, before):
        if done % 500 == 0:
            tell("bm25", done, total)
        yield segment.read(place), codes


def open_index(snapshot: Path, languages: Mapping[str, int]) -> bm25.Bm25:
    """Raises IndexProblem."""
    return bm25.Bm25(snapshot / "lucene", languages)


def problems(snapshot: Path, languages: Mapping[str, int]) -> list[str]:
    """Starts the Java machine. Raises IndexProblem."""
    jvm.start()
    wrong: list[str] = []
    for language, expected in sorted(languages.items()):
        try:
            found = bm25.count(snapshot / "lucene" / language)
        except jvm.java_error() as error:
            wrong.append(str(error))
            continue
        if found != expected:
            wrong.append(f"Lucene index {language} holds {found} passages, not {expected}")
    return wrong


def detach() -> None:
    jvm.detach()
