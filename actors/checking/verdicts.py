"""The verdict on a claim: verified, contradicted, unverified, not covered, or no claim.

The gate compares the claim with the spans nearest to it. A contradiction needs a span on the same subject: nearly all other words
of the claim stand there, and no other span bears the claim out. A wrong `contradicted` costs a reader more than a missed one, so
every doubt makes a claim `unverified`.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from actors.checking.claims import LONGEST, SHORT_WORDS, Claim
from actors.checking.spans import Candidate, Found, Stems, words_of
from actors.facts.numbers.slots import slot_index, slots
from actors.facts.numbers.text_numbers import read
from actors.facts.numbers.values import Value
from actors.gate.check import check_sentence
from actors.gate.flags import Flag, standing
from index.languages import FALLBACK, LANGUAGES
from index.languages.detection import detect
from index.languages.folding import normal
from index.languages.negation import is_negated, negations

type Verdict = Literal["verified", "contradicted", "unverified", "not_covered", "no_claim"]

#: A claim is compared with this many spans.
SPANS: Final = 5
#: Of this many content words of a verified claim, one may be missing from the span and what stands around it;
SPARE_WORDS: Final = 6
#: at least this share is in the span itself.
OWN_SHARE: Final = 0.6
#: The second of two spans that verify a claim together has at least this many words that the first lacks.
SECOND_WORDS: Final = 3
#: A contradicted claim has at least this share of the words that are not in dispute in the span and around it.
SAME_SHARE: Final = 0.75
#: A claim is covered when a passage has at least this share of it, as the index weighs it by rarity,
COVERED: Final = 0.45
#: or a span this share of its words, where no index is searched.
COVERED_SHARE: Final = 0.35
#: A short claim is about what its lead names, of which a span or what stands around it has at least this share.
LEAD_SHARE: Final = 0.3

#: Reasons of strong flags that name nothing in the evidence that says otherwise.
_BEYOND = re.compile(
    r"is not in the evidence\Z|\Adenies, and the evidence denies nothing|\Aleaves no exception|but (?:adds|leaves out) "
)
#: A reason that holds only where one side denies.
_DENIED = re.compile(r"for a negation\Z|\Anegated, which|the evidence negates")
#: The evidence's words in a reason of the gate.
_SAYS = re.compile(
    r"the evidence says (?P<says>.+?)(?: there)?\Z|“(?P<quoted>.+)”\Z|the evidence names (?P<names>.+), not |"
    r"copies the evidence but says .+ for (?P<was>.+)\Z"
)
_NAME = re.compile(
    r"(?<=[^\W_] )[A-ZÀ-Ý][\w’'-]+|\A\W*[A-ZÀ-Ý][\w’'-]+(?= [A-ZÀ-Ý])|\b\w*\d\w*[^\W\d]\w*|\b[A-Z]{2,}\b"
)
_QUESTION = re.compile(r"[?？؟][\s\"'”’»)]*\Z")


class Opposed(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a claim: its words, those of the span against them (where the span has some), and why."""

    words: str
    instead: str
    why: str


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A claim with its verdict. `spans`: what bears it out or opposes it, or else what is nearest; best first."""

    claim: Claim
    verdict: Verdict
    why: str = ""
    spans: tuple[Candidate, ...] = ()
    opposed: tuple[Opposed, ...] = ()


def judged(claim: Claim, found: Found) -> Checked:
    """The verdict on one claim."""
    if not claim.states:
        return Checked(claim=claim, verdict="no_claim")
    if len(claim.text) > LONGEST:
        return Checked(claim=claim, verdict="unverified", why=f"it is longer than {LONGEST} characters; shorten it")
    near = found.nearest(claim, SPANS)
    wanted = words_of(claim.text)
    if not near:
        return Checked(claim=claim, verdict="not_covered", why="the documents have none of its words")
    if proof := _proof(claim, wanted, near):
        return Checked(claim=claim, verdict="verified", spans=proof)
    flags = _strong(claim, near)
    for flag in flags:
        opposing = near[flag.evidence_n[0] - 1] if len(flag.evidence_n) == 1 else near[0]
        opposed = _opposed(flag, claim, opposing)
        if opposed and _same_subject(claim, wanted, flag, opposing):
            return Checked(claim=claim, verdict="contradicted", why=opposed.why, spans=(opposing,), opposed=(opposed,))
    if _covered(wanted, near, found):
        return Checked(claim=claim, verdict="unverified", why=_beyond(flags, wanted, near[0]), spans=tuple(near[:1]))
    return Checked(claim=claim, verdict="not_covered", why="no span is about it")


def _strong(claim: Claim, spans: Sequence[Candidate]) -> list[Flag]:
    evidence = [span.evidence(n) for n, span in enumerate(spans, 1)]
    return [flag for flag in check_sentence(claim.text, evidence) if flag.strength == "strong"]


def _stands(claim: Claim, spans: Sequence[Candidate]) -> bool:
    """Whether the gate would let the claim pass as verified if it cited these spans."""
    evidence = [span.evidence(n) for n, span in enumerate(spans, 1)]
    cited = "".join(f" [{item.n}]" for item in evidence)
    return standing(check_sentence(f"{claim.text}{cited}", evidence)) == "verified"


def _proof(claim: Claim, wanted: Stems, near: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The first span, or two spans of one passage, that say what the claim says; none if none do."""
    pairs = [
        (near[0], span)
        for span in near[1:]
        if span.passage is near[0].passage and len(wanted & span.own - near[0].own) >= SECOND_WORDS
    ]
    for spans in (*((span,) for span in near), *pairs):
        own: Stems = frozenset().union(*(span.own for span in spans))
        there = own.union(*(span.around for span in spans))
        missing = wanted - there
        if (
            len(missing) * SPARE_WORDS <= len(wanted)
            and not missing & _names(claim)
            and _share(wanted, own) >= OWN_SHARE
            and _on_lead(claim, wanted, there)
            and _denies_alike(claim, wanted, spans)
            and not any(_QUESTION.search(span.text) for span in spans)
            and _has_numbers(claim, spans)
            and _stands(claim, spans)
        ):
            return spans
    return ()


def _denies_alike(claim: Claim, wanted: Stems, spans: Sequence[Candidate]) -> bool:
    """Whether the claim denies only where a span does, and no span denies what the claim states."""
    if is_negated(claim.text):
        return any(is_negated(span.text) for span in spans)
    for text in (normal(span.text) for span in spans):
        if any(words_of(text[one.start : one.end]) & wanted for one in negations(text, _language(text))):
            return False
    return True


def _language(text: str) -> str:
    detected = detect(text)
    return detected if detected in LANGUAGES else FALLBACK


def _names(claim: Claim) -> Stems:
    """The words of the claim that name something: with a capital letter within it, or with a digit."""
    return words_of(" ".join(_NAME.findall(claim.text)))


def _has_numbers(claim: Claim, spans: Sequence[Candidate]) -> bool:
    """Whether the spans have each number of the claim as it is; a bound of it is another number."""
    there = [slot_index("\n".join((span.passage.title, span.intro, span.text))) for span in spans]
    return all(any(True for text in there for _ in text.same(slot.value)) for slot in slots(claim.text))


def _same_subject(claim: Claim, wanted: Stems, flag: Flag, span: Candidate) -> bool:
    """Whether the span is about what the claim is about, apart from the words in dispute."""
    there = span.own | span.around
    undisputed = wanted - words_of(flag.words)
    return (
        _share(undisputed, there) >= SAME_SHARE
        and _share(undisputed, span.own) >= OWN_SHARE
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
    if flags:
        return flags[0].why
    missing = sorted(wanted - span.own - span.around)
    return "the nearest span does not say it" + (f": nothing on {', '.join(missing[:6])}" if missing else "")


def _opposed(flag: Flag, claim: Claim, span: Candidate) -> Opposed | None:
    """What is wrong with the claim by this flag; None where the flag names nothing in the span that says otherwise."""
    if _BEYOND.search(flag.why):
        return _other_amount(flag, claim, span)
    if _DENIED.search(flag.why) and is_negated(claim.text) == is_negated(span.text):
        return None
    said = _SAYS.search(flag.why)
    instead = next(filter(None, said.groups()), "") if said else ""
    return None if instead == flag.words else Opposed(words=flag.words, instead=instead, why=flag.why)


def _other_amount(flag: Flag, claim: Claim, span: Candidate) -> Opposed | None:
    """Another amount of the same unit, the only one in the span, in place of one that no span has."""
    if flag.kind != "fabricated_number":
        return None
    unit = next((value.unit for value in read(flag.words).values), "") or next(
        (slot.value.unit for slot in slots(claim.text) if flag.words.startswith(_written(claim.text, slot.value))), ""
    )
    theirs = [value for value in slot_index(span.text).amounts if value.unit == unit]
    if not unit or len(theirs) != 1 or any(slot_index(claim.text).same(theirs[0])):
        return None
    instead = _written(span.text, theirs[0])
    return Opposed(words=flag.words, instead=instead, why=f"{flag.words}: the evidence says {instead}")


def _written(text: str, value: Value) -> str:
    return read(text).text[value.start : value.end]
