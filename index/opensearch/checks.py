"""What an index over OpenSearch contains, and whether all of it is there: check.py for a cluster."""

from collections.abc import Callable

from index.check import Stats, advice
from index.errors import IndexProblem
from index.groups import counted
from index.model import Entry, Passage
from index.opensearch.backend import OpenSearchBackend
from index.opensearch.layout import State
from index.opensearch.opening import OpenSearchIndex


def stats(index: OpenSearchIndex, name: str | None = None) -> Stats:
    """Sizes are those of all copies of a generation. Raises IndexProblem."""
    state, entries = _opened(index, name, lambda backend: list(backend.entries(None)))
    manifest = state.manifest
    sizes = index.sizes()
    return Stats(
        snapshot=manifest.snapshot,
        snapshots=index.names(),
        created=manifest.created,
        documents=manifest.documents,
        passages=manifest.passages,
        languages=manifest.languages,
        groups=counted(entry.groups for entry in entries),
        characters=manifest.source_chars,
        embedder=f"{manifest.embedder.name} {manifest.embedder.version}",
        dimension=manifest.embedder.dimension,
        fitted_on=manifest.fitted_on,
        folded_in=manifest.folded_in,
        coverage=round(manifest.coverage, 3),
        size_bytes=sizes.get(state.generation, 0),
        all_snapshots_bytes=sum(sizes.values()),
        advice=advice(manifest),
    )


def verify(index: OpenSearchIndex, name: str | None = None) -> list[str]:
    """Reads every passage. Raises IndexProblem."""
    state, problems = _opened(index, name, _problems)
    if not problems and (result := state.manifest.languages) != _languages(state):
        problems = [f"the classes of documents count {_languages(state)} where the manifest says {result}"]
    return problems


def _opened[T](index: OpenSearchIndex, name: str | None, work: Callable[[OpenSearchBackend], T]) -> tuple[State, T]:
    backend = index.open_state(name)
    try:
        return backend.state, work(backend)
    finally:
        backend.close()


def _problems(backend: OpenSearchBackend) -> list[str]:
    problems: list[str] = []
    documents = passages = 0
    for entry in backend.entries(None):
        documents += 1
        try:
            result = backend.passages(entry)
        except IndexProblem as problem:
            problems.append(str(problem))
            continue
        passages += len(result)
        if [one.number for one in result] != list(range(entry.first, entry.first + entry.count)):
            problems.append(f"{entry.source_id} has {len(result)} passages, not the {entry.count} that it was cut into")
        problems += [
            f"passage {one.number} of {entry.source_id} does not fit its document"
            for one in result
            if not _fits(one, entry)
        ]
    manifest = backend.state.manifest
    if (documents, passages) != (manifest.documents, manifest.passages):
        problems.append(
            f"{documents} documents and {passages} passages where the manifest says"
            f" {manifest.documents} and {manifest.passages}"
        )
    return problems


def _fits(passage: Passage, entry: Entry) -> bool:
    whole = passage.char_end - passage.char_start == len(passage.text) and passage.char_end <= entry.characters
    return whole and passage.source_id == entry.source_id


def _languages(state: State) -> dict[str, int]:
    results: dict[str, int] = {}
    for one in state.classes:
        for language, passages in one.languages.items():
            results[language] = results.get(language, 0) + passages
    return results
