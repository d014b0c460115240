"""Reservations that a copy adds or leaves out: only, all, at least; and hedges that it leaves out: about, mostly, may."""

from actors.facts.lexicon import Role, Term, copy_terms, sides
from actors.facts.stems import stems
from actors.gate.copies.alignment import Copy, CopyChange, CopyToken


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
