"""The part of a build that updates the Lucene indexes of a new snapshot."""

from collections.abc import Iterator
from pathlib import Path

from index import bm25
from index.build_job import Job, Tell
from index.model import Passage
from index.snapshot import link_tree
from index.store import Segment


def run(job: Job, tell: Tell) -> dict[str, float]:
    """Returns the number of passages per language afterwards, keyed `language.LANGUAGE`, for languages that changed."""
    building = Path(job.building)
    parent = Path(job.parent) if job.parent else None
    added: dict[str, list[tuple[Segment, int]]] = {}
    for path in job.new:
        segment = Segment(Path(path))
        for place, passage in enumerate(segment):
            added.setdefault(passage.language, []).append((segment, place))
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


def _told(places: list[tuple[Segment, int]], before: int, total: int, tell: Tell) -> Iterator[Passage]:
    for done, (segment, place) in enumerate(places, before):
        if done % 500 == 0:
            tell("bm25", done, total)
        yield segment.read(place)
