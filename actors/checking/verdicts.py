"""The verdict on a claim: verified, contradicted, unverified, not covered, or no claim.

The gate compares the claim with the spans nearest to it. A contradiction needs a span on the same subject: most other words
of the claim are there, and no other span bears the claim out. A wrong `contradicted` costs a reader more than a missed one, so
every doubt makes a claim `unverified`.
"""

import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

import msgspec

from actors.checking import thresholds
from actors.checking.claims import SHORT_WORDS, Claim
from actors.checking.proof import names_of, on_lead, proves, share_of
from actors.checking.report import CheckedSentence, Verdict
from actors.checking.spans import Candidate, Found, Stems, compared, content, density, words_of
from actors.facts.numbers.values import NumberRange, Value
from actors.facts.reading import read
from actors.facts.slots import slot_index
from actors.gate.check import check_sentence
from actors.gate.flags import Flag
from actors.gate.flags import flag as flag_of
from actors.gate.support import script_of
from index.languages.characters import is_han
from index.languages.negation import is_negated
from index.text.sentences import CELLS

#: A longer claim is not compared, in characters.
LONGEST: Final = 4000
#: A reason names at most this many words or stretches of words that the documents lack.
LISTED: Final = 6
#: Reasons of the gate that one side denies what the other states.
_DENIED = re.compile(r"for a negation\Z|\Anegated, which|the evidence negates")
#: Reasons of the gate that quote the words of the evidence that say otherwise. “says it is A, the evidence says B” is too weak.
_SAYS = re.compile(
    r"(?<!, )the evidence says (?P<says>.+?)(?: there)?\Z|“(?P<quoted>.+)”\Z|but says .+ for (?P<was>.+)\Z"
)


def judged(claim: Claim, found: Found) -> CheckedSentence:
    """The claim with its verdict, at its place in the text that it was read from."""
    if not claim.states:
        return _result(claim, "no_claim")
    if len(claim.text) > LONGEST:
        return _result(claim, "unverified", f"it is longer than {LONGEST} characters; shorten it")
    near = found.nearest(claim, thresholds.SPANS)
    if proof := next((span for span in near if proves(claim, span)), None):
        return _result(claim, "verified", "", proof)
    evidence = [span.evidence(n) for n, span in enumerate(near, 1)]
    flags = [flag for flag in check_sentence(claim.text, evidence) if flag.strength == "strong"] if near else []
    if against := _against(claim, near, flags):
        span, flag = against
        return _result(claim, "contradicted", flag.why, span, flag)
    if not near or not _covered(claim, near, found):
        return _result(claim, "not_covered", "no span shares enough of its words")
    missing = ", ".join(_missing(claim, near[0]))
    beyond = f"does not say it: nothing on {missing}" if missing else "has its words, but does not say it"
    odd = next((flag for flag in flags if flag.kind != "reversed_term"), None)
    return _result(claim, "unverified", odd.why if odd else f"the nearest span {beyond}", near[0], odd)


def _missing(claim: Claim, span: Candidate) -> list[str]:
    """The first words of the claim that neither the span nor what stands around it has; neighbours together, as written."""
    text = compared(claim.text)
    found: list[tuple[int, int]] = []
    for word in content(claim.text):
        if word.stem in span.there:
            continue
        if found and not text[found[-1][1] : word.start].strip():
            found[-1] = (found[-1][0], word.end)
        else:
            found.append((word.start, word.end))
    shown = claim.text if len(claim.text) == len(text) else text
    return list(dict.fromkeys(shown[start:end] for start, end in found))[:LISTED]


def _result(
    claim: Claim, verdict: Verdict, why: str = "", span: Candidate | None = None, flag: Flag | None = None
) -> CheckedSentence:
    return CheckedSentence(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        verdict=verdict,
        why=why,
        words=flag.words.strip() if flag else "",
        spans=(span.shown(_instead(flag) if flag else ""),) if span else (),
    )


def _against(claim: Claim, near: list[Candidate], flags: list[Flag]) -> tuple[Candidate, Flag] | None:
    """The span that contradicts the claim, and the flag that says how."""
    for flag in flags:
        span = near[flag.evidence_n[0] - 1] if len(flag.evidence_n) == 1 else near[0]
        if _opposes(flag, claim, span):
            return span, flag
    return _otherwise(claim, near)


def _otherwise(claim: Claim, near: list[Candidate]) -> tuple[Candidate, Flag] | None:
    """The span that says what the claim says but for one number, if no other span has still another one in its place."""
    found: dict[str, tuple[Candidate, Flag]] = {}
    text = read(compared(claim.text)).text
    named = {name for name in names_of(claim) if not is_han(name[0])}
    for span in near:
        said = read(span.said)
        there = slot_index(f"{span.heads}\n{span.said}")
        lacking = [value for value in read(text).values if value.sure and not any(True for _ in there.same(value))]
        if len(lacking) != 1 or _within(lacking[0], said.intervals) or not named <= span.there:
            continue
        value = lacking[0]
        words = text[value.start : value.end]
        for other in said.values:
            instead = said.text[other.start : other.end]
            changed = msgspec.structs.replace(claim, text=f"{text[: value.start]}{instead}{text[value.end :]}")
            if other.unit == value.unit and not value.name and proves(changed, span):
                why = f"{words}: the evidence says {instead} there"
                found[instead] = span, flag_of("fabricated_number", words, (1,), why)
    return next(iter(found.values())) if len(found) == 1 else None


def _within(value: Value, intervals: Sequence[NumberRange]) -> bool:
    return any(one.low <= reading <= one.high for one in intervals for reading in value.readings)


def _opposes(flag: Flag, claim: Claim, span: Candidate) -> bool:
    """Whether the flag names something in a span on the same subject that says otherwise."""
    denied = _DENIED.search(flag.why)
    if denied and is_negated(claim.text) == is_negated(span.text):
        return False
    if not denied and _instead(flag) in ("", flag.words):
        return False
    if flag.kind == "fabricated_number" and {_instead(flag), flag.words} <= _numbers(claim.text) & _numbers(span.text):
        return False  # the two have the same numbers in another order
    if span.is_row or (flag.kind == "reversed_term" and CELLS in claim.text):
        return False  # the cells of a row are no sentence
    wanted = words_of(claim.text)
    undisputed = wanted if denied else wanted - words_of(flag.words)
    missing = undisputed - span.there
    return (
        len(undisputed & span.there) >= thresholds.SAME_WORDS
        and share_of(undisputed, span.own) >= (thresholds.DENIED_SUBJECT if denied else thresholds.SAME_SUBJECT)
        and density(undisputed, span.text) >= thresholds.CLOSE_TOGETHER
        and (flag.kind == "fabricated_number" or len(span.own) <= thresholds.LONGER * len(wanted))
        and (not missing or (len(undisputed) > SHORT_WORDS and missing.isdisjoint(names_of(claim))))
        and on_lead(claim, span)
    )


def _numbers(text: str) -> set[str]:
    return {read(text).text[value.start : value.end] for value in read(text).values}


def _instead(flag: Flag) -> str:
    """The words of the span that a flag's reason quotes."""
    said = _SAYS.search(flag.why)
    return next(filter(None, said.groups()), "").strip() if said else ""


def _covered(claim: Claim, near: list[Candidate], found: Found) -> bool:
    wanted = words_of(claim.text)
    if found.coverage is not None and found.coverage >= _by_script(thresholds.COVERED, wanted):
        return True
    best = max(found.weight(wanted & span.there) for span in near) / (found.weight(wanted) or 1.0)
    return best >= _by_script(thresholds.COVERED_SHARE, wanted) * (1 if found.coverage is None else 2)


def _by_script(shares: Mapping[str, float], words: Stems) -> float:
    """The mean share for the scripts of the words."""
    return fmean([shares[script_of(word[0])] for word in words] or [shares[""]])
