"""The verdict on a claim: verified, contradicted, unverified, not covered, or no claim.

The gate compares the claim with the spans nearest to it. A contradiction needs a span on the same subject: nearly all other words
of the claim stand there, and no other span bears the claim out. A wrong `contradicted` costs a reader more than a missed one, so
every doubt makes a claim `unverified`.
"""

import re
from collections.abc import Sequence

from actors.checking.claims import LONGEST, SHORT_WORDS, Claim, without_mark
from actors.checking.report import CheckedSentence, Verdict
from actors.checking.spans import Candidate, Found, Stems, density, words_of
from actors.checking.thresholds import (
    CLOSE_TOGETHER,
    COVERED,
    COVERED_SHARE,
    DENIED_OWN_SHARE,
    LEAD_SHARE,
    LONGER,
    OWN_SHARE,
    SAME_OWN_SHARE,
    SAME_SHARE,
    SAME_WORDS,
    SPANS,
    SPARE_WORDS,
)
from actors.facts.forces import Force, forces
from actors.facts.numbers.slots import slot_index, slots
from actors.gate.check import check_sentence
from actors.gate.flags import Flag, standing
from index.languages import FALLBACK, LANGUAGES
from index.languages.detection import detect
from index.languages.folding import normal
from index.languages.negation import is_negated, negations

NOTHING = "no span is about it"
#: Reasons of strong flags that name nothing in the evidence that says otherwise.
_BEYOND = re.compile(
    r"is not in the evidence\Z|\Adenies, and the evidence denies nothing|\Aleaves no exception|but (?:adds|leaves out) |"
    r"\Athe evidence names |\Asays it is "
)
#: A reason that holds only where one side denies.
_DENIED = re.compile(r"for a negation\Z|\Anegated, which|the evidence negates")
#: The evidence's words in a reason of the gate.
_SAYS = re.compile(
    r"the evidence says (?P<says>.+?)(?: there)?\Z|“(?P<quoted>.+)”\Z|"
    r"copies the evidence but says .+ for (?P<was>.+)\Z"
)
_NAME = re.compile(
    r"(?<=[^\W_] )[A-ZÀ-Ý][\w’'-]+|\A\W*[A-ZÀ-Ý][\w’'-]+(?= [A-ZÀ-Ý])|\b\w*\d\w*[^\W\d]\w*|\b[A-Z]{2,}\b"
)
_QUESTION = re.compile(r"[?？؟][\s\"'”’»)]*\Z")


def judged(claim: Claim, found: Found) -> CheckedSentence:
    """The claim with its verdict, at its place in the text that it was read from."""
    if not claim.states:
        return _result(claim, "no_claim")
    if len(claim.text) > LONGEST:
        return _result(claim, "unverified", why=f"it is longer than {LONGEST} characters; shorten it")
    near = found.nearest(claim, SPANS)
    wanted = words_of(claim.text)
    if proof := next((span for span in near if _proves(claim, wanted, span)), None):
        return _result(claim, "verified", proof)
    return _doubted(claim, wanted, near, found) if near else _result(claim, "not_covered", why=NOTHING)


def _doubted(claim: Claim, wanted: Stems, near: Sequence[Candidate], found: Found) -> CheckedSentence:
    """The verdict on a claim that no span proves."""
    evidence = [span.evidence(n) for n, span in enumerate(near, 1)]
    flags = [flag for flag in check_sentence(claim.text, evidence) if flag.strength == "strong"]
    for flag in flags:
        opposing = near[flag.evidence_n[0] - 1] if len(flag.evidence_n) == 1 else near[0]
        if _opposes(flag, claim, opposing) and _same_subject(claim, wanted, flag, opposing):
            return _result(claim, "contradicted", opposing, flag.why, flag)
    if _covered(wanted, near, found):
        return _result(claim, "unverified", near[0], _beyond(flags, wanted, near[0]))
    return _result(claim, "not_covered", why=NOTHING)


def _result(
    claim: Claim, verdict: Verdict, span: Candidate | None = None, why: str = "", flag: Flag | None = None
) -> CheckedSentence:
    words = flag.words.strip() if flag else ""
    spans = () if span is None else (span.shown(_instead(flag) if flag else ""),)
    return CheckedSentence(
        text=claim.text, start=claim.start, end=claim.end, verdict=verdict, why=why, words=words, spans=spans
    )


def _proves(claim: Claim, wanted: Stems, span: Candidate) -> bool:
    """Whether the span says what the claim says."""
    there = span.own | span.around
    missing = wanted - there
    if _bare(claim.text) == _bare(span.text):
        return _on_lead(claim, wanted, there)
    return (
        len(missing) * SPARE_WORDS <= len(wanted)
        and not missing & _names(claim)
        and _share(wanted, span.own) >= OWN_SHARE
        and density(wanted, span.text) >= CLOSE_TOGETHER
        and _on_lead(claim, wanted, there)
        and not _QUESTION.search(span.text)
        and _has_numbers(claim, span)
        and _binds_alike(claim, span)
        and _denies_alike(claim, wanted, span)
        and _stands(claim, span)
    )


def _bare(text: str) -> str:
    return without_mark(normal(text)).rstrip(".!。")


def _stands(claim: Claim, span: Candidate) -> bool:
    """Whether the gate would let the claim pass as verified if it cited the span."""
    return standing(check_sentence(f"{claim.text} [1]", [span.evidence(1)])) == "verified"


def _binds_alike(claim: Claim, span: Candidate) -> bool:
    """Whether the span has each duty, ban, permission and limit of the claim."""
    there = {force.name for force in _forces(span.text)}
    return all(force.name in there for force in _forces(claim.text))


def _denies_alike(claim: Claim, wanted: Stems, span: Candidate) -> bool:
    """Whether the claim denies only where the span does, and the span does not deny what the claim states."""
    if is_negated(claim.text):
        return is_negated(span.text)
    own, theirs = normal(claim.text), normal(span.text)
    return not any(
        words_of(theirs[one.start : one.end]) & wanted and one.cue not in own
        for one in negations(theirs, _language(theirs))
    )


def _forces(text: str) -> tuple[Force, ...]:
    text = normal(text)
    return tuple(forces(text, _language(text)))


def _language(text: str) -> str:
    detected = detect(text)
    return detected if detected in LANGUAGES else FALLBACK


def _names(claim: Claim) -> Stems:
    """The words of the claim that name something: with a capital letter within it, or with a digit."""
    return words_of(" ".join(_NAME.findall(claim.text)))


def _has_numbers(claim: Claim, span: Candidate) -> bool:
    """Whether the span has each number of the claim as it is; a bound of it is another number."""
    there = slot_index("\n".join((span.passage.title, span.intro, span.text)))
    return all(any(True for _ in there.same(slot.value)) for slot in slots(claim.text))


def _same_subject(claim: Claim, wanted: Stems, flag: Flag, span: Candidate) -> bool:
    """Whether the span is about what the claim is about, apart from the words in dispute."""
    there = span.own | span.around
    denied = _DENIED.search(flag.why) is not None
    undisputed = wanted if denied else wanted - words_of(flag.words)
    return (
        len(undisputed & there) >= SAME_WORDS
        and _share(undisputed, span.own) >= (DENIED_OWN_SHARE if denied else SAME_OWN_SHARE)
        and _share(undisputed, there) >= SAME_SHARE
        and density(undisputed, span.text) >= CLOSE_TOGETHER
        and (flag.kind == "fabricated_number" or len(span.own) <= LONGER * len(wanted))
        and not (undisputed - there) & _names(claim)
        and _on_lead(claim, wanted, there)
    )


def _on_lead(claim: Claim, wanted: Stems, there: Stems) -> bool:
    lead = words_of(claim.lead)
    return len(wanted) >= SHORT_WORDS or not lead or _share(lead, there) >= LEAD_SHARE


def _covered(wanted: Stems, near: Sequence[Candidate], found: Found) -> bool:
    if found.coverage is not None and found.coverage >= COVERED:
        return True
    total = sum(map(found.weight, wanted)) or 1.0
    best = max(sum(map(found.weight, wanted & (span.own | span.around))) for span in near) / total
    return best >= (COVERED_SHARE if found.coverage is None else 2 * COVERED_SHARE)


def _share(wanted: Stems, there: Stems) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0


def _beyond(flags: Sequence[Flag], wanted: Stems, span: Candidate) -> str:
    """One line on what the nearest span does not say."""
    for flag in flags:
        if flag.kind != "reversed_term":
            return flag.why
    if missing := sorted(wanted - span.own - span.around):
        return f"the nearest span does not say it: nothing on {', '.join(missing[:6])}"
    return flags[0].why if flags else "the nearest span does not say it"


def _opposes(flag: Flag, claim: Claim, span: Candidate) -> bool:
    """Whether the flag names something in the span that says otherwise."""
    if _BEYOND.search(flag.why) or _instead(flag) == flag.words:
        return False
    if _DENIED.search(flag.why) and is_negated(claim.text) == is_negated(span.text):
        return False
    # The cells of a row are no sentence.
    return flag.kind != "reversed_term" or not (" | " in claim.text or span.kind in ("table_row", "code"))


def _instead(flag: Flag) -> str:
    """The words of the span that a flag's reason quotes."""
    said = _SAYS.search(flag.why)
    return next(filter(None, said.groups()), "").strip() if said else ""
