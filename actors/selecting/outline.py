"""The outline of a document, where a summary is wanted and no model can write one: the beginnings of its sections."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from actors.evidence.spans import Slice
from bus.powers.searching import SearchRequest
from bus.wire.messages import Passage, Question
from index.filters import Filter, narrowed
from index.languages import union
from index.languages.characters import fold
from index.text.matching import content_words, matches
from index.text.passages import weigh
from index.text.units import units

_TASKS: Final = union(lambda language: language.noise.tasks)
_SUMMARIES: Final = union(lambda language: language.noise.summaries)
#: A document is the one to summarise when its title and path have at least this share of the words.
_NAMED: Final = 0.5
#: The most passages that are read of it, and the most sentences that are shown.
READ: Final = 30
_SENTENCES: Final = 8
_READABLE: Final = frozenset(("prose", "list_item", "definition"))
#: A shorter sentence says too little to stand for its section; a longer one is no beginning. In weights, as passages have.
_SHORTEST, _LONGEST = 30, 400


def document_of(question: Question, passages: Sequence[Passage]) -> str:
    """The source id of the document that the question wants a summary of; empty for another question, or if none has its name."""
    folded = fold(question.text)
    task = _TASKS.search(folded)
    if not question.needs_model or task is None or not _SUMMARIES.search(task[0]):
        return ""
    wanted = content_words(folded.replace(task[0], " "))
    shares: dict[str, float] = {}
    for passage in passages:
        named = f"{passage.title} {passage.source_id.rpartition('.')[0].replace('/', ' ').replace('-', ' ')}"
        shares.setdefault(passage.source_id, sum(bool(matches(named, {word})) for word in wanted) / max(1, len(wanted)))
    best = max(shares, key=lambda source: shares[source], default="")
    return best if best and shares[best] >= _NAMED else ""


def whole_document(question: Question, passages: Sequence[Passage], request: SearchRequest) -> SearchRequest | None:
    """The request for the rest of the document in the same snapshot; None where there is none to summarise."""
    source = document_of(question, passages)
    if not source:
        return None
    only = narrowed(request.filter, Filter(path=source))
    snapshot = passages[0].snapshot
    return replace(request, filter=only, k=READ, bm25_k=READ, vector_k=READ, snapshot=snapshot)


def outline(question: Question, passages: Sequence[Passage]) -> list[Slice]:
    """The first sentences or items below each heading of the document, in its order; empty where `document_of` is."""
    source = document_of(question, passages)
    sections: list[list[Slice]] = []
    below: tuple[str, ...] | None = None
    for at in sorted(range(len(passages)), key=lambda at: passages[at].char_start):
        passage = passages[at]
        if passage.source_id != source:
            continue
        if passage.headings != below:
            sections.append([])
        below = passage.headings
        for unit in units(passage.text, passage.blocks, passage.char_start):
            if unit.kind == "heading":
                sections.append([])
            elif unit.kind in _READABLE and _SHORTEST <= weigh(passage.text[unit.start : unit.end]) <= _LONGEST:
                sections[-1].append((at, unit.start, unit.end))
    sections = [section for section in sections if section][:_SENTENCES]
    return [each for section in sections for each in section[: max(1, _SENTENCES // len(sections))]]
