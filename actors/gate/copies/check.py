"""The changes of a copied sentence: a negation, a term for its opposite, a reservation, another person or thing."""

import re
from collections.abc import Iterator, Sequence

from actors.facts.lexicon import Force, Role, Term, copy_terms, exclude, forces, sides, terms
from actors.facts.stems import stems
from actors.gate.copies.alignment import Copy, CopyChange, CopyToken, copy_of
from actors.gate.copies.nouns import other_noun
from actors.gate.places import EvidenceSentence
from actors.gate.thresholds import ADDED_WORDS, REPLACED_WORDS, SWAPPED_WORDS
from index.languages import of
from index.languages.negation import Negated, is_in_reach, negations


def changed_in_copy(
    text: str, written: str, candidates: Sequence[EvidenceSentence], evidence: Sequence[str], language: str
) -> Iterator[tuple[str, str, bool]]:
    """The words of a sentence that change the claim of the one it copies, each with the reason; none if it copies none.

    `text` is `written` in normal form; `candidates` are the sentences of `evidence` that it may copy. Last, whether all else is
    the same: a sentence that changes further words retells, where another noun or reservation may be a matter of wording.
    """
    copies = [(copy, original) for original in candidates if (copy := copy_of(text, original.text)) is not None]
    if not copies:
        return
    copy, original = max(copies, key=lambda pair: pair[0].share)
    opposed = {
        change: _denied(copy, change, language)
        or _swapped(copy, change, language)
        or _restricted(copy, change, language)
        for change in copy.changes
    }
    others = {
        change: reserved(copy, change, language)
        or other_noun(copy, change, written, original.written, evidence, language)
        for change, why in opposed.items()
        if not why and not copy.short
    }
    turned = opposed | others
    retells = any(not why and not _is_small(copy, change) for change, why in turned.items())
    for change, why in (opposed if retells else turned).items():
        if why:
            yield copy.words(change), f"copies the evidence but {why}", not retells


def _is_small(copy: Copy, change: CopyChange) -> bool:
    """Whether the change has no number and no content word."""
    mine, theirs = copy.mine[change.begin : change.end], copy.theirs[change.first : change.last]
    return _alone(copy.text, mine, []) and _alone(copy.there, theirs, [])


def _denied(copy: Copy, change: CopyChange, language: str) -> str:
    """Whether a negator was added to or removed from unchanged words; a negator removed with its clause denies nothing."""
    own, theirs = _spans(copy, change)
    replaces = change.begin < change.end and change.first < change.last
    few = copy.size(change) <= (REPLACED_WORDS if replaces else ADDED_WORDS)
    turned = _denials(copy.text, copy.there, own, language, few=few) - _denials(
        copy.there, copy.text, theirs, language, few=few
    )
    return "for a negation" if turned % 2 else ""


def _denials(text: str, other: str, span: tuple[int, int], language: str, *, few: bool) -> int:
    kept = {stem.stem for stem in stems(other)}
    denied = [one for one in negations(text, language) if span[0] <= one.at < span[1]]
    own, theirs = forces(text, language), forces(other, language)
    reworded = {force.term.text for force in own} != {force.term.text for force in theirs}
    if reworded and {force.name for force in own} == {force.name for force in theirs}:  # "not allowed" is "forbidden"
        denied = [one for one in denied if not any(_is_of(force, one) for force in own)]
    return sum(few or _nearest(text, one) in kept for one in denied)


def _is_of(force: Force, negated: Negated) -> bool:
    return force.term.start <= negated.at < force.term.end or negated.start <= force.term.start < negated.end


def _nearest(text: str, negated: Negated) -> str:
    """The word that the negator most surely applies to."""
    reached = [stem for stem in stems(text) if negated.start <= stem.start < negated.end]
    return reached[-1 if negated.end <= negated.at else 0].stem if reached else ""


def _swapped(copy: Copy, change: CopyChange, language: str) -> str:
    """Whether a term among the changed words excludes one of the words it replaced."""
    own, others = _spans(copy, change)
    for mine in _touching(forces(copy.text, language), own):
        for theirs in _touching(forces(copy.there, language), others):
            if exclude(mine.name, theirs.name):
                return f"says {mine.term.text} for {theirs.term.text}"
    if copy.size(change) > SWAPPED_WORDS:
        return ""
    extended = _with_neighbours(copy, change, own, others)
    for terms_in in (terms, copy_terms):
        was_said = [was for was in terms_in(copy.there, language) if _touches(was, extended[1])]
        for term in terms_in(copy.text, language):
            if not _touches(term, extended[0]) or any(set(term.senses) & set(was.senses) for was in was_said):
                continue
            for was in was_said:
                # Where words were only added or left out, one term is a part of the other.
                whole = extended == (own, others) or term.text in was.text or was.text in term.text
                if (
                    whole
                    and _opposed(term, was)
                    and is_in_reach(copy.text, term.start, language) == is_in_reach(copy.there, was.start, language)
                ):
                    return f"says {term.text} for {was.text}"
    return ""


def _restricted(copy: Copy, change: CopyChange, language: str) -> str:
    """Whether added words limit the claim to some: "only to members"."""
    only = of(language).terms.audience.only_some
    own, _ = _spans(copy, change)
    limits = re.search(only, copy.text[own[0] : own[1]]) if change.first == change.last else None
    return f"adds {limits[0].strip()}" if limits and not re.search(only, copy.there) else ""


def _with_neighbours(
    copy: Copy, change: CopyChange, own: tuple[int, int], others: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where words were only added or left out, their neighbours may belong to the term: even if, for if."""
    if change.begin == change.end and change.begin < len(copy.mine):
        own = (copy.mine[change.begin - 1].start, copy.mine[change.begin].end)
    elif change.first == change.last and change.first < len(copy.theirs):
        others = (copy.theirs[max(0, change.first - 1)].start, copy.theirs[change.first].end)
    return own, others


def _opposed(term: Term, other: Term) -> bool:
    return any(
        mine.role in ("opposite", "kind", "change")
        and (mine.role, mine.group) == (theirs.role, theirs.group)
        and mine != theirs
        for mine in term.senses
        for theirs in other.senses
    )


def _touching(all_forces: list[Force], span: tuple[int, int]) -> list[Force]:
    return [force for force in all_forces if _touches(force.term, span)]


def _touches(term: Term, span: tuple[int, int]) -> bool:
    return term.start < span[1] and span[0] < term.end


def _spans(copy: Copy, change: CopyChange) -> tuple[tuple[int, int], tuple[int, int]]:
    """The characters that changed on either side, with what lies between them and the words before."""
    own = (copy.mine[change.begin - 1].end if change.begin else 0, copy.mine[change.end - 1].end)
    theirs = (copy.theirs[change.first - 1].end if change.first else 0, copy.theirs[change.last - 1].end)
    return (
        own if change.begin < change.end else (0, 0),
        theirs if change.first < change.last else (0, 0),
    )


def reserved(copy: Copy, change: CopyChange, language: str) -> str:
    """The reservation that the change adds or leaves out, if it changes nothing else; else ""."""
    mine, theirs = copy.mine[change.begin : change.end], copy.theirs[change.first : change.last]
    own, others = _of(copy.text, mine, language), _of(copy.there, theirs, language)
    if not _alone(copy.text, mine, own) or not _alone(copy.there, theirs, others):
        return ""
    for term in own:
        if _has(term, "reservation") and not _has_equal(term, copy_terms(copy.there, language)):
            return f"adds {term.text}"
    for term in others:
        if not _has_equal(term, copy_terms(copy.text, language)):
            return f"leaves out {term.text}"
    return ""


def _of(text: str, changed: tuple[CopyToken, ...], language: str) -> list[Term]:
    if not changed:
        return []
    return [
        term
        for term in copy_terms(text, language)
        if (_has(term, "reservation") or _has(term, "hedge"))
        and changed[0].start <= term.start
        and term.end <= changed[-1].end
    ]


def _has(term: Term, role: Role) -> bool:
    return any(sense.role == role for sense in term.senses)


def _has_equal(term: Term, others: tuple[Term, ...]) -> bool:
    return any(other.text == term.text or sides(term) & sides(other) for other in others)


def _alone(text: str, changed: tuple[CopyToken, ...], reservations: list[Term]) -> bool:
    """Whether no number and no other content word changed."""
    if not changed:
        return True
    begin, end = changed[0].start, changed[-1].end
    return not any(token.text[0].isdigit() for token in changed) and not any(
        begin <= stem.start < end and not any(term.start <= stem.start < term.end for term in reservations)
        for stem in stems(text)
    )
