"""The changes of a copied sentence: a negation, a term for its opposite, a reservation, another person or thing."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from actors.facts.lexicon import Force, Role, Term, copy_terms, exclude, forces, sides, terms
from actors.facts.stems import Stem, stems
from actors.gate.copies.alignment import Copy, CopyChange, CopyToken, copy_of
from actors.gate.copies.nouns import other_noun
from actors.gate.places import EvidenceSentence
from actors.gate.thresholds import ADDED_WORDS, FORCED_WORDS, REPLACED_WORDS, SWAPPED_WORDS
from index.languages import of
from index.languages.characters import is_han
from index.languages.negation import Negated, is_in_reach, negations, turns


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
    added = _denials(copy.text, copy.there, own, language, few=few)
    left = _denials(copy.there, copy.text, theirs, language, few=few)
    if (len(added) - len(left)) % 2 == 0:
        return ""
    turned = sum(not _is_excepted(copy.text, one, copy.there, language) for one in added)
    turned -= sum(not _is_denied_too(copy.there, one, copy.text, language) for one in left)
    return "for a negation" if turned % 2 else ""


def _denials(text: str, other: str, span: tuple[int, int], language: str, *, few: bool) -> list[Negated]:
    kept = {stem.stem for stem in stems(other)}
    denied = [one for one in negations(text, language) if span[0] <= one.at < span[1]]
    own, theirs = forces(text, language), forces(other, language)
    reworded = {force.term.text for force in own} != {force.term.text for force in theirs}
    if reworded and {force.name for force in own} == {force.name for force in theirs}:  # "not allowed" is "forbidden"
        denied = [one for one in denied if not any(_is_of(force, one) for force in own)]
    return [one for one in denied if few or _nearest(text, one) in kept]


def _is_of(force: Force, negated: Negated) -> bool:
    return force.term.start <= negated.at < force.term.end or negated.start <= force.term.start < negated.end


def _is_denied_too(there: str, negated: Negated, text: str, language: str) -> bool:
    """Whether the sentence has half of what the evidence's negation turns, and denies the nearest word: "not A or B"."""
    reached = [stem.stem for stem in _reached(there, negated) if turns(negated, there, stem.start, language)]
    denials = negations(text, language)
    own = {stem.stem for stem in stems(text)}
    places = [stem.start for stem in stems(text) if reached and stem.stem == reached[0]]
    return (
        bool(places)
        and 2 * sum(map(own.__contains__, reached)) >= len(reached)
        and all(any(turns(one, text, at, language) for one in denials) for at in places)
    )


def is_said_of_some(ban: Force, text: str, there: str, language: str) -> bool:
    """Whether `there` bans what the sentence speaks of by an exception to what it permits."""
    return ban.name == "ban" and any(
        _is_of(ban, one) and _is_excepted(text, one, there, language) for one in negations(text, language)
    )


def _is_excepted(text: str, negated: Negated, there: str, language: str) -> bool:
    """Whether `there` has what the negation turns as an exception: "may not use B" is said by "may use A, but not B"."""
    obliging = [force.term for force in forces(text, language)]
    end = min([one.at for one in negations(text, language) if one.at > negated.at], default=len(text))
    line, own = stems(there), {stem.stem for stem in stems(text)}
    denials = [one for one in negations(there, language) if _nearest(there, one) in own]
    known: dict[str, set[bool]] = {}
    for stem in line:
        known.setdefault(stem.stem, set()).add(any(turns(one, there, stem.start, language) for one in denials))
    reached = [
        stem.stem
        for stem in stems(text)
        if stem.stem in known
        and stem.start < end
        and turns(negated, text, stem.start, language)
        and not any(term.start <= stem.start < term.end for term in obliging)
    ]
    done = [*takewhile(lambda stem: True not in known[stem], reached)]
    rest = [known[stem] for stem in reached[len(done) :]]
    # What is done with both stands before another thing there.
    other = bool(done) and any(one.stem == done[-1] and two.stem not in own for one, two in pairwise(line))
    return other and {True} in rest and all(True in each for each in rest)


def _nearest(text: str, negated: Negated) -> str:
    """The word that the negator most surely applies to."""
    return next((stem.stem for stem in _reached(text, negated)), "")


def _reached(text: str, negated: Negated) -> list[Stem]:
    """The words in reach of the negation, the nearest first; of two Chinese characters none may be the negator's."""
    inside = (stem for stem in stems(text) if negated.start <= stem.start < negated.end)
    reached = [stem for stem in inside if stem.end <= negated.end or not is_han(stem.stem[0])]
    return reached[::-1] if negated.end <= negated.at else reached


def _swapped(copy: Copy, change: CopyChange, language: str) -> str:
    """Whether a term among the changed words excludes one of the words it replaced."""
    own, others = _spans(copy, change)
    for mine in _touching(forces(copy.text, language), own):
        for theirs in _touching(forces(copy.there, language), others):
            if exclude(mine.name, theirs.name) and not _is_there(copy, mine, language):
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


def _is_there(copy: Copy, force: Force, language: str) -> bool:
    """Whether the evidence says the same of the same: with the words that follow, or by a denial of its own."""
    following = [stem.end for stem in stems(copy.text) if stem.start >= force.term.end][:FORCED_WORDS]
    if following and copy.text[force.term.start : following[-1]] in copy.there:
        return True
    return is_said_of_some(force, copy.text, copy.there, language)


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
