"""The verdict on a claim: verified, contradicted, unverified, not covered, or no claim.

The gate compares the claim with the spans nearest to it. A contradiction needs a span on the same subject: most other words
of the claim are there, and no other span bears the claim out. A wrong `contradicted` costs a reader more than a missed one, so
every doubt makes a claim `unverified`.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from statistics import fmean
from typing import Final

from actors.checking.claims import SHORT_WORDS, Claim, without_mark
from actors.checking.report import CheckedSentence, Verdict
from actors.checking.spans import Candidate, Found, Stems, compared, content, density, words_of
from actors.checking.thresholds import (
    CLOSE_TOGETHER,
    COVERED,
    COVERED_SHARE,
    DENIED_SUBJECT,
    LEAD_SHARE,
    LONGER,
    OWN_SHARE,
    SAME_SUBJECT,
    SAME_WORDS,
    SPANS,
    SPARE_WORDS,
)
from actors.facts.lexicon import forces
from actors.facts.slots import slot_index, slots
from actors.facts.stems import Stem
from actors.gate.check import check_sentence
from actors.gate.flags import Flag, standing
from actors.gate.support import script_of
from index.languages import of
from index.languages.characters import is_han, normal
from index.languages.detection import detect
from index.languages.negation import is_negated, negations

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
_NAME = re.compile(r"`[^`\n]+`|(?<=[^\W_] )[A-ZÀ-Ý][\w’'-]+|\b\w*\d\w*[^\W\d]\w*|\b[A-Z]{2,}\b")
_QUESTION = re.compile(r"[?？؟][\s\"'”’»)]*\Z")


def judged(claim: Claim, found: Found) -> CheckedSentence:
    """The claim with its verdict, at its place in the text that it was read from."""
    if not claim.states:
        return _result(claim, "no_claim")
    if len(claim.text) > LONGEST:
        return _result(claim, "unverified", f"it is longer than {LONGEST} characters; shorten it")
    near = found.nearest(claim, SPANS)
    if proof := next((span for span in near if _proves(claim, span)), None):
        return _result(claim, "verified", "", proof)
    evidence = [span.evidence(n) for n, span in enumerate(near, 1)]
    flags = [flag for flag in check_sentence(claim.text, evidence) if flag.strength == "strong"] if near else []
    for flag in flags:
        span = near[flag.evidence_n[0] - 1] if len(flag.evidence_n) == 1 else near[0]
        if _opposes(flag, claim, span):
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


def _proves(claim: Claim, span: Candidate) -> bool:
    """Whether the span says what the claim says."""
    wanted = words_of(claim.text)
    missing = wanted - span.there
    alike = _bare(claim.text) == _bare(span.text) or (
        len(missing) * SPARE_WORDS <= len(wanted)
        and missing.isdisjoint(_names(claim))
        and _share(wanted, span.own) >= OWN_SHARE
        and (len(wanted) >= SHORT_WORDS or len(span.own) <= LONGER * len(wanted))
        and density(wanted, span.text) >= CLOSE_TOGETHER
        and not (missing and _replaces(claim.text, span.text, missing))
        and not _exchanges(claim.text, span.text)
        and not _QUESTION.search(span.text)
        and _has_numbers(claim, span)
        and _binds_alike(claim, span)
        and standing(check_sentence(f"{claim.text} [1]", [span.evidence(1)])) == "verified"
    )
    return alike and _on_lead(claim, span)


def _replaces(text: str, there: str, missing: Stems) -> bool:
    """Whether a missing word of `text` stands where `there` has another one, and so says another thing."""
    own, theirs = ([*_units(content(each))] for each in (text, there))
    changes = SequenceMatcher(None, own, theirs, autojunk=False).get_opcodes()
    changed = (one for kind, begin, end, *_ in changes if kind == "replace" for one in own[begin:end])
    return any(is_han(one) or one in missing for one in changed)


def _units(words: tuple[Stem, ...]) -> Iterator[str]:
    """The words in order; of pairs of Chinese characters, which overlap, each character once."""
    ended = 0
    for word in words:
        yield from word.stem[max(0, ended - word.start) :] if is_han(word.stem[0]) else (word.stem,)
        ended = word.end


def _exchanges(text: str, there: str) -> bool:
    """Whether `text` is `there` with two words exchanged that no "and" or "or" joins: who does what to whom."""
    own, theirs = content(text), content(there)
    moved = [one for one, other in zip(own, theirs, strict=False) if one.stem != other.stem]
    if len(moved) != 2 or sorted(one.stem for one in own) != sorted(one.stem for one in theirs):
        return False
    between = compared(text)[moved[0].end : moved[1].start]
    return any(map(str.isalnum, between)) and not re.search(of(detect(text)).terms.copies.joins, between)


def _bare(text: str) -> str:
    return without_mark(compared(text)).rstrip(".!。")


def _names(claim: Claim) -> Stems:
    """The words of the claim that name something: in code, with a capital letter within the claim, or with a digit."""
    return words_of(" ".join(_NAME.findall(claim.text)))


def _binds_alike(claim: Claim, span: Candidate) -> bool:
    """Whether the span has each duty, ban and permission of the claim, and each of the two denies only what the other does."""
    stated, there = normal(claim.text), normal(span.text)
    if not _forces(stated) <= _forces(there):
        return False
    if is_negated(claim.text):
        return is_negated(span.text)
    denied = [there[one.start : one.end] for one in negations(there, detect(there)) if one.cue not in stated]
    return words_of(claim.text).isdisjoint(words_of("\n".join(denied)))


def _forces(text: str) -> set[str]:
    return {force.name for force in forces(text, detect(text))}


def _has_numbers(claim: Claim, span: Candidate) -> bool:
    """Whether the span has each number of the claim as it is; a bound of it is another number."""
    there = slot_index(f"{span.passage.title}\n{span.intro}\n{span.text}")
    return all(any(True for _ in there.same(slot.value)) for slot in slots(claim.text))


def _opposes(flag: Flag, claim: Claim, span: Candidate) -> bool:
    """Whether the flag names something in a span on the same subject that says otherwise."""
    denied = _DENIED.search(flag.why)
    if denied and is_negated(claim.text) == is_negated(span.text):
        return False
    if not denied and _instead(flag) in ("", flag.words):
        return False
    if flag.kind == "reversed_term" and " | " in claim.text + span.text:
        return False  # the cells of a row are no sentence
    wanted = words_of(claim.text)
    undisputed = wanted if denied else wanted - words_of(flag.words)
    missing = undisputed - span.there
    return (
        len(undisputed & span.there) >= SAME_WORDS
        and _share(undisputed, span.own) >= (DENIED_SUBJECT if denied else SAME_SUBJECT)
        and density(undisputed, span.text) >= CLOSE_TOGETHER
        and (flag.kind == "fabricated_number" or len(span.own) <= LONGER * len(wanted))
        and (not missing or (len(undisputed) > SHORT_WORDS and missing.isdisjoint(_names(claim))))
        and _on_lead(claim, span)
    )


def _instead(flag: Flag) -> str:
    """The words of the span that a flag's reason quotes."""
    said = _SAYS.search(flag.why)
    return next(filter(None, said.groups()), "").strip() if said else ""


def _on_lead(claim: Claim, span: Candidate) -> bool:
    """Whether the span of a short claim is about what the claim's lead names."""
    lead = words_of(claim.lead)
    return not lead or len(words_of(claim.text)) >= SHORT_WORDS or _share(lead, span.there) >= LEAD_SHARE


def _covered(claim: Claim, near: list[Candidate], found: Found) -> bool:
    wanted = words_of(claim.text)
    if found.coverage is not None and found.coverage >= _by_script(COVERED, wanted):
        return True
    best = max(found.weight(wanted & span.there) for span in near) / (found.weight(wanted) or 1.0)
    return best >= _by_script(COVERED_SHARE, wanted) * (1 if found.coverage is None else 2)


def _by_script(shares: Mapping[str, float], words: Stems) -> float:
    """The mean share for the scripts of the words."""
    return fmean([shares[script_of(word[0])] for word in words] or [shares[""]])


def _share(wanted: Stems, there: Stems) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0
