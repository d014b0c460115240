"""Find where the evidence contradicts itself: two values for the same thing in two spans, two scopes, or two wordings.

Precision comes first: a false conflict confuses more than a missed one. Two sentences, items or rows are about the same thing
when each has nearly all words of the other besides the value: a word on each side that the other lacks may distinguish two things
("weekdays", "weekends"). Exactly one value may differ, among the same words; a second difference would be the condition of the
first ("in 2010", "in 2015").
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

import msgspec

from actors.evidence import thresholds
from actors.evidence.near_copies import contradicted, in_key
from actors.evidence.owners import known, of_another
from actors.evidence.spans import Slice, numbered
from actors.evidence.statements import Amount, Statement, all_statements, same, statements
from actors.facts.reading import read
from actors.facts.stems import stems, stems_in
from bus.wire.parts import Conflict, Passage, Span
from index.text.sentences import CELLS

#: A name with its number at the end, as pictures and files have: "preview-2". Two of them are two things.
_NUMBERED: Final = re.compile(r"[^\W\d_][-_#]\d{1,4}\W*\Z")
#: A number that is no year.
_NUMBER: Final = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d+")


def conflicts_in(
    evidence: Sequence[Span], old: Mapping[str, str] | None = None, passages: Sequence[Passage] = ()
) -> tuple[Conflict, ...]:
    """Typed conflicts between spans, in the order of the spans; each pair of spans conflicts on a subject at most once.

    `passages`: those that the spans were cut from; what stands around a statement there may name its subject.
    `old`: the documents that are out of date, each with the one in its place; a conflict with that one is marked as settled.
    Two of them are no conflict.
    """
    conflicts: list[Conflict] = []
    old = old or {}
    for first, second in combinations([s for span in evidence for s in _in_passage(span, passages)], 2):
        if first.source_id in old and second.source_id in old:
            continue
        conflict = _disagreement(first, second)
        if conflict is not None and not any(_same_pair(conflict, other) for other in conflicts):
            conflicts.append(_settled(conflict, first.source_id, second.source_id, old))
    return tuple(conflicts[: thresholds.CONFLICTS])


def _in_passage(span: Span, passages: Sequence[Passage]) -> Iterable[Statement]:
    """The statements of a span, each with the words of its passage around it."""
    own = (each for each in passages if each.source_id == span.source_id)
    whole = next((each for each in own if each.char_start <= span.source_start < each.char_end), None)
    stated = all_statements(span)
    if whole is None:
        return stated
    around = stems_in(f"{whole.title}\n{whole.text}")
    return (msgspec.structs.replace(one, around=one.around | around) for one in stated)


def opposing(evidence: Sequence[Span], passages: Sequence[Passage], question: str = "") -> tuple[Span, ...]:
    """Contradictions of the evidence in other documents of the passages, numbered after it: one unit of each document.

    None of another person or thing than a document of the evidence that it contradicts.
    """
    stated = [one for span in evidence for one in all_statements(span)]
    like = [one.text for one in stated]
    if not stated:
        return ()
    documents = known((*evidence, *passages))
    cited = {span.source_id for span in evidence}
    slices: dict[str, Slice] = {}
    for at, passage in enumerate(passages):
        if passage.source_id in cited or passage.source_id in slices:
            continue
        whole = msgspec.structs.replace(numbered((passage,), [(0, 0, len(passage.text))])[0], n=0)
        for other in statements(whole, like=like):
            if any(
                _disagreement(one, other) and not of_another(one.source_id, other.source_id, documents, question)
                for one in stated
            ):
                slices.setdefault(passage.source_id, (at, other.start, other.end))
    more = numbered(passages, list(slices.values())[: thresholds.CONFLICTS])
    return tuple(msgspec.structs.replace(span, n=len(evidence) + span.n) for span in more)


def _settled(conflict: Conflict, first: str, second: str, old: Mapping[str, str]) -> Conflict:
    """The conflict with the number of its side that is out of date, if the other side is not."""
    if (first in old) == (second in old):
        return conflict
    return msgspec.structs.replace(conflict, outdated_n=conflict.first_n if first in old else conflict.second_n)


def _disagreement(first: Statement, second: Statement) -> Conflict | None:
    if first.n == second.n or first.language != second.language:
        return None
    return _conflict(first, second) or _wording_conflict(first, second)


def _conflict(first: Statement, second: Statement) -> Conflict | None:
    if scopes := _scope_conflict(first, second):
        return scopes
    if not first.amounts or not second.amounts or not _alike(first, second):
        return None
    pair = _one_difference(first.amounts, second.amounts)
    if pair is None or not _same_kind(*pair) or _likeness(*pair) < thresholds.VALUE_CONTEXT_SHARE:
        return None
    mine, theirs = pair
    if in_key(first.text, mine.text) or in_key(second.text, theirs.text):
        return None
    if _NUMBERED.search(first.text) and _NUMBERED.search(second.text):
        return None
    return Conflict(
        kind="date" if mine.is_date else "value",
        subject=_subject(first, second, mine),
        first_n=first.n,
        second_n=second.n,
        first=mine.text,
        second=theirs.text,
    )


def _scope_conflict(first: Statement, second: Statement) -> Conflict | None:
    """Where one is for everybody and the other only for some, in documents that otherwise say the same."""
    common = len(first.words & second.words)
    if (
        first.scope is None
        or second.scope is None
        or first.scope.everybody == second.scope.everybody
        or first.source_id == second.source_id
        or common < max(thresholds.SHARED_WORDS, thresholds.ALIKE_SHARE * len(first.words | second.words))
        or any(not any(same(one, other) for other in second.amounts) for one in first.amounts)
    ):
        return None
    shared = " ".join(word for word in first.text.split() if word in second.text.split())
    return Conflict(
        kind="scope",
        subject=(shared or first.text)[: thresholds.CONFLICT_SUBJECT_CHARS],
        first_n=first.n,
        second_n=second.n,
        first=first.scope.text,
        second=second.scope.text,
    )


def _wording_conflict(first: Statement, second: Statement) -> Conflict | None:
    copy = contradicted(first, second)
    if copy is None:
        return None
    return Conflict(
        kind="wording",
        subject=" ".join(first.text.split())[: thresholds.CONFLICT_SUBJECT_CHARS],
        first_n=first.n,
        second_n=second.n,
        first=copy.as_written[0],
        second=copy.as_written[1],
    )


def _alike(first: Statement, second: Statement) -> bool:
    """Whether both are about the same thing: the span of one has everything that the other states."""
    shared = first.words & second.words
    if len(shared) < thresholds.SHARED_WORDS:
        return False
    if first.source_id == second.source_id and first.headings != second.headings:
        return False
    if CELLS in first.text and CELLS in second.text and _of_two(first, second):
        return False
    alike = len(shared) / len(first.words | second.words)
    if alike < (thresholds.ALIKE_SHARE_IN_DOCUMENT if first.source_id == second.source_id else thresholds.ALIKE_SHARE):
        return False
    only_first, only_second = _missing(first.words, second.around), _missing(second.words, first.around)
    if not only_first or not only_second:
        return True
    return alike >= thresholds.REWORDED_SHARE and not _replaced(first.text, only_first, second.text, only_second)


def _of_two(first: Statement, second: Statement) -> bool:
    """Whether two rows are of two things: their first cells differ, or each document's title has a word, or a number that is no
    year, that the other's lacks.
    """
    if first.text.partition(CELLS)[0].casefold() != second.text.partition(CELLS)[0].casefold():
        return True
    mine, theirs = ({*_NUMBER.findall(each.title)} for each in (first, second))
    words = bool(_missing(first.about, second.around) and _missing(second.about, first.around))
    return words or bool(mine - theirs and theirs - mine)


def _missing(words: frozenset[str], around: frozenset[str]) -> frozenset[str]:
    """The words that are nowhere in `around`, not even with another ending."""
    return frozenset(
        one
        for one in words - around
        if len(one) == 1
        or not any(len(other) > 1 and (one.startswith(other) or other.startswith(one)) for other in around)
    )


def _replaced(first: str, only_first: frozenset[str], second: str, only_second: frozenset[str]) -> bool:
    """Whether a word of one takes the place of a word of the other: then the sentences are about two things."""
    return bool(_neighbours(first, only_first) & _neighbours(second, only_second))


def _neighbours(text: str, of: frozenset[str]) -> set[tuple[str, str]]:
    """The side and the content word next to each of `of`; the sentence's edge counts as a word."""
    row = ["", *(stem.stem for stem in stems(read(text).text)), ""]
    neighbours: set[tuple[str, str]] = set()
    for at, word in enumerate(row):
        if word in of:
            neighbours |= {("before", row[at - 1]), ("after", row[at + 1])}
    return neighbours


def _one_difference(first: tuple[Amount, ...], second: tuple[Amount, ...]) -> tuple[Amount, Amount] | None:
    """The one amount of each sentence that the other does not give."""
    mine = [one for one in first if not any(same(one, other) for other in second)]
    theirs = [one for one in second if not any(same(one, other) for other in first)]
    return (mine[0], theirs[0]) if len(mine) == len(theirs) == 1 else None


def _same_kind(mine: Amount, theirs: Amount) -> bool:
    return mine.is_date == theirs.is_date and (mine.is_date or mine.unit == theirs.unit)


def _likeness(mine: Amount, theirs: Amount) -> float:
    """Share (0..1) of the words around the values that are around both."""
    shared = sum(len(one & other) for one, other in zip(mine.near, theirs.near, strict=True))
    most = sum(min(len(one), len(other)) for one, other in zip(mine.near, theirs.near, strict=True))
    return shared / most if most else 0.0


def _subject(first: Statement, second: Statement, value: Amount) -> str:
    """The words that both share, in the first one's order, without the value."""
    plain = read(first.text).text
    kept = sorted(
        (stem.start, stem.end)
        for stem in stems(plain)
        if stem.stem in second.words and not (stem.start < value.end and value.start < stem.end)
    )
    words: list[str] = []
    at = 0
    for start, end in kept:
        if start < at:
            words[-1] += plain[at:end]
        elif end > at:
            words.append(plain[start:end])
        at = max(at, end)
    subject = " ".join(words)
    return (
        subject
        if len(subject) <= thresholds.CONFLICT_SUBJECT_CHARS
        else subject[: thresholds.CONFLICT_SUBJECT_CHARS - 1].rstrip() + "…"
    )


def _same_pair(one: Conflict, other: Conflict) -> bool:
    return (one.first_n, one.second_n) == (other.first_n, other.second_n) and {one.first, one.second} == {
        other.first,
        other.second,
    }
