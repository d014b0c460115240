"""Questions about documents and not about facts in them, where no model answers: an outline of one, a list of several.

A summary becomes the beginnings of the sections of the document that has the name. "Which documents do I have about X" becomes one
sentence of each document that has the words.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from actors.evidence.spans import Slice
from actors.evidence.standing import out_of_date
from actors.question.resolved import asks_model
from bus.powers.searching import SearchRequest
from bus.wire.parts import Passage, Question
from index.filters import Filter, narrowed
from index.languages import union
from index.languages.characters import fold
from index.text.matching import content_words, matches
from index.text.passages import weigh
from index.text.units import STOPS, Unit, says_nothing, units

_TASKS: Final = union(lambda language: language.noise.tasks)
_SUMMARIES: Final = union(lambda language: language.noise.summaries)
_LISTS: Final = union(lambda language: language.noise.lists)
#: A document is the one to summarise when its title and path have at least this share of the words; one is listed when a passage
#: with its title, path and headings has more than this share.
_NAMED: Final = 0.5
#: The most passages that are read of a document, or for a list, and the most sentences that are shown.
_READ: Final = 30
_SENTENCES: Final = 8
_READABLE: Final = frozenset(("prose", "list_item", "definition", "table_row"))
#: A shorter sentence says too little to stand for its section; a longer one is no beginning. In weights, as passages have.
_SHORTEST, _LONGEST = 30, 400
#: A text without a full stop is a sentence from this weight on.
_SURELY: Final = 80


def lists_documents(text: str) -> bool:
    """Whether a question wants to know which documents there are about something."""
    return bool(_LISTS.search(fold(text)))


def wider(question: Question, passages: Sequence[Passage], request: SearchRequest) -> SearchRequest | None:
    """The search in the same snapshot that an overview needs after the first; None for another question."""
    rest, source = _rest(question, _LISTS), _document_of(question, passages)
    if not passages or not (rest or source):
        return None
    more = replace(request, k=_READ, bm25_k=_READ, vector_k=_READ, snapshot=passages[0].snapshot)
    return replace(more, query=rest) if rest else replace(more, filter=narrowed(more.filter, Filter(path=source)))


def overview(question: Question, passages: Sequence[Passage]) -> list[Slice]:
    """The stretches that an overview quotes; none for another question, or where no document has its words."""
    return _list(question, passages) or _outline(question, passages)


def _rest(question: Question, phrases: re.Pattern[str]) -> str:
    """The folded question without the words that ask for an overview; empty where it has none, or a model answers."""
    folded = fold(question.text)
    if asks_model(question, "select_evidence") or not phrases.search(folded):
        return ""
    return phrases.sub(" ", folded).strip()


def _share(wanted: frozenset[str], text: str) -> float:
    return sum(bool(matches(text, {word})) for word in wanted) / max(1, len(wanted))


def _name(passage: Passage) -> str:
    return f"{passage.title} {re.sub(r'[-_/.]', ' ', passage.source_id)}"


def _document_of(question: Question, passages: Sequence[Passage]) -> str:
    """The source id of the document that the question wants a summary of; empty for another question, or if none has its name."""
    task = _TASKS.search(fold(question.text))
    if not question.needs_model or task is None or not _SUMMARIES.search(task[0]):
        return ""
    wanted = content_words(_rest(question, _TASKS))
    shares: dict[str, float] = {}
    for passage in passages:
        if passage.source_id not in shares:
            shares[passage.source_id] = _share(wanted, _name(passage))
    best = max(shares, key=lambda source: shares[source], default="")
    if not best or shares[best] < _NAMED:
        return ""
    return out_of_date(passages, question.text).get(best) or best


def _readable(passage: Passage, shortest: float = 0.0) -> list[Unit]:
    found = units(passage.text, passage.blocks, passage.char_start)
    return [
        unit
        for unit in found
        if unit.kind in _READABLE and shortest <= weigh(passage.text[unit.start : unit.end]) <= _LONGEST
    ]


def _is_whole(text: str) -> bool:
    """Whether a text is a sentence that states something, from its beginning to its end as far as one can see."""
    ends = text.endswith(STOPS) or weigh(text) >= _SURELY
    return ends and not text[:1].islower() and not says_nothing(text) and "©" not in text


def _list(question: Question, passages: Sequence[Passage]) -> list[Slice]:
    """Of each document that has the words, the unit with most of them, however short; best document first.

    Where documents have the words as they are written, others that only have their stems are left out.
    """
    rest = _rest(question, _LISTS)
    if not rest:
        return []
    wanted = content_words(rest)
    words = [word for word in re.findall(r"\w+", rest) if content_words(word) & wanted]
    written = [
        re.compile(rf"{re.escape(word)}|\b{re.escape(word[:-1] or word)}\b") for word in words
    ]  # boilers, boiler
    results: dict[str, Slice] = {}
    exact: set[str] = set()
    for at, passage in enumerate(passages):
        whole = fold(" ".join((_name(passage), *passage.headings, passage.text)))
        as_written = all(word.search(whole) for word in written)
        if not written or passage.source_id in results or not (as_written or _share(wanted, whole) > _NAMED):
            continue
        if shown := _readable(passage):
            texts = [passage.text[unit.start : unit.end] for unit in shown]
            worth = [(_share(wanted, text), weigh(text) >= _SHORTEST) for text in texts]
            best = shown[worth.index(max(worth))]
            results[passage.source_id] = (at, best.start, best.end)
            exact |= {passage.source_id} if as_written else set()
    return [each for source, each in results.items() if source in exact or not exact][:_SENTENCES]


def _outline(question: Question, passages: Sequence[Passage]) -> list[Slice]:
    """The first sentences or items below each heading of the document, in its order."""
    source = _document_of(question, passages)
    if not source:
        return []
    sections: dict[tuple[int, tuple[str, ...]], list[Slice]] = {}
    for at in sorted(range(len(passages)), key=lambda at: passages[at].char_start):
        passage = passages[at]
        if passage.source_id != source:
            continue
        headings = [block.start - passage.char_start for block in passage.blocks if block.kind == "heading"]
        for unit in _readable(passage, _SHORTEST):
            if unit.kind == "prose" and not _is_whole(passage.text[unit.start : unit.end]):
                continue
            above = max((start for start in headings if start < unit.start), default=-1)
            section = (passage.char_start + above, ()) if above >= 0 else (-1, passage.headings)
            sections.setdefault(section, []).append((at, unit.start, unit.end))
    most = max(1, _SENTENCES // max(1, min(_SENTENCES, len(sections))))
    return [each for section in [*sections.values()][:_SENTENCES] for each in section[:most]]
