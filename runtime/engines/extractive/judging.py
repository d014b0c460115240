"""Judge what was found, and what was written.

Relevance goes by coverage and rarity, sufficiency by the aspects covered; an answer's contradictions are the gate's findings, and
the language guard changes nothing.
"""

import re
from typing import Final

from actors.gate.check import check_contents
from actors.gate.flags import Flag
from index.languages.words import terms
from prompts.contracts import (
    AddedSubQuery,
    Contradiction,
    Evidence,
    EvidencePick,
    Extract,
    GuardLanguage,
    JudgeRelevance,
    JudgeSufficiency,
    Relevance,
    SelectEvidence,
    SubQuery,
    Sufficiency,
    Verdict,
    VerifyAnswer,
)
from prompts.vocabulary import Confidence, ContradictionType, FlagKind
from runtime.engines.extractive.quoting import clean, shorten
from runtime.engines.extractive.ranking import Ranked, rank, unlike


def select_evidence(prompt: SelectEvidence) -> EvidencePick:
    """What the rules chose: they choose before any engine is asked (actors/choosing)."""
    return EvidencePick(spans=prompt.suggested)


#: The least share of the statement's rarity-weighted words in a sentence, for each grade of relevance.
HIGH, MEDIUM, LOW = 0.6, 0.35, 0.2
#: A probability that makes up for few shared words.
LIKELY = 0.3

MOST_EXTRACTS, LONGEST_EXCERPT = 5, 800
MOST_MISSING, LONGEST_MISSING = 3, 80
LONGEST_ANSWER = 400
MOST_CRITICAL, LONGEST_ASPECT = 4, 60
MOST_ADDED, LONGEST_ADDED_FOCUS, LONGEST_REASON = 3, 40, 80

_WORD = re.compile(r"[^\W_]+")


def judge_relevance(prompt: JudgeRelevance) -> Relevance:
    """The chunks' verbatim sentences about the sub-query, with the best of them as its answer."""
    asked = _asked(prompt)
    ranked = rank(asked, prompt.language, prompt.retrieved_chunks)
    extracts = (
        []
        if unlike(ranked)
        else [r for r in ranked[:MOST_EXTRACTS] if r.covered >= LOW or (r.covered > 0 and r.share >= LIKELY)]
    )
    held = {term for r in extracts for term in terms(prompt.retrieved_chunks[r.read.passage].content)}
    words = dict.fromkeys(_WORD.findall(prompt.sub_query_statement))
    missing = [word for word in words if (found := terms(word)) and held.isdisjoint(found)]
    if not extracts:
        missing = [prompt.sub_query_focus or prompt.sub_query_statement]
    return Relevance(
        sub_query_id=prompt.sub_query_id,
        sub_query_statement=prompt.sub_query_statement[:LONGEST_ANSWER],
        relevant_extracts=tuple(
            Extract(
                source_file=prompt.retrieved_chunks[r.read.passage].source_file,
                excerpt=r.text[:LONGEST_EXCERPT].rstrip(),
                relevance=_level(r),
            )
            for r in extracts
        ),
        sub_answer=shorten(" ".join(clean(r.text) for r in extracts[:2]), LONGEST_ANSWER),
        confidence=_level(extracts[0]) if extracts else "low",
        missing_aspects=tuple(word[:LONGEST_MISSING] for word in missing[:MOST_MISSING]),
    )


def judge_sufficiency(prompt: JudgeSufficiency) -> Sufficiency:
    """Sufficient when every sub-query has an extract; each one without gets another search with its content words alone.

    What is missing is named where something else was found: nobody needs to be told the whole question.
    """
    by_id = {analysis.sub_query_id: analysis for analysis in prompt.sub_query_analyses}
    covered: list[SubQuery] = []
    missing: list[SubQuery] = []
    for sub in prompt.sub_queries:
        analysis = by_id.get(sub.id)
        (covered if analysis and analysis.relevant_extracts else missing).append(sub)
    added = tuple(
        AddedSubQuery(
            id=f"sq_add_{number}",
            statement=reworded(sub.statement),
            focus=shorten(sub.focus or sub.statement, LONGEST_ADDED_FOCUS),
            reason=shorten(f"Nothing was found for: {sub.statement}", LONGEST_REASON),
        )
        for number, sub in enumerate(missing[:MOST_ADDED], 1)
    )
    return Sufficiency(
        is_sufficient=not missing,
        confidence="low" if not covered else "medium" if missing else "high",
        missing_critical_aspects=tuple(
            shorten(s.focus or s.statement, LONGEST_ASPECT) for s in (missing[:MOST_CRITICAL] if covered else ())
        ),
        reasoning=f"{len(covered)} of {len(prompt.sub_queries)} aspects are covered.",
        additional_sub_queries=added,
    )


def reworded(statement: str) -> str:
    """The content words of a statement, longest first, so that rare words are no longer drowned out."""
    words = [word for word in dict.fromkeys(_WORD.findall(statement)) if terms(word)]
    return " ".join(sorted(words, key=lambda word: -len(word))) or statement


def _asked(prompt: JudgeRelevance) -> str:
    """The focus if it is the statement in question form, which tells what kind of thing is asked for."""
    said, focus = set(terms(prompt.sub_query_statement)), set(terms(prompt.sub_query_focus))
    return prompt.sub_query_focus if said and said <= focus else prompt.sub_query_statement


def _level(r: Ranked) -> Confidence:
    if r.covered >= HIGH or (r.covered >= MEDIUM and r.share >= 0.5):
        return "high"
    return "medium" if r.covered >= MEDIUM or r.share >= LIKELY else "low"


#: Gravest first, the order in which they are reported.
TYPES: Final[dict[FlagKind, ContradictionType]] = {
    "reversed_term": "direct_negation",
    "fabricated_number": "numeric_conflict",
    "fabricated_quote": "unsupported_claim",
    "unverified": "unsupported_claim",
}
MOST, LONGEST_CLAIM, LONGEST_REF, LONGEST_WHY = 5, 50, 50, 30


def verify_answer(prompt: VerifyAnswer) -> Verdict:
    """At most five contradictions, gravest first; only one backed by a strong flag is critical."""
    order = list(TYPES)
    flags = [f for f in check_contents(prompt.answer, prompt.evidence) if f.kind in TYPES]
    flags.sort(key=lambda f: order.index(f.kind))  # stable: in the order of the answer within a type
    found = tuple(_contradiction(f, prompt.evidence) for f in flags[:MOST])
    return Verdict(contradictions=found)


def guard_language(prompt: GuardLanguage) -> str:
    """The text unchanged: rules cannot translate, and a wrong translation is worse than none."""
    return prompt.text


def _contradiction(found: Flag, evidence: tuple[Evidence, ...]) -> Contradiction:
    said = next((e.text for e in evidence if e.n in found.evidence_n), "")
    ref = f"[{found.evidence_n[0]}] {' '.join(said.split())}" if found.evidence_n else ""
    return Contradiction(
        type=TYPES[found.kind],
        severity="critical" if found.strength == "strong" else "minor",
        claim=found.words[:LONGEST_CLAIM],
        evidence_ref=ref[:LONGEST_REF],
        explanation=found.why[:LONGEST_WHY],
    )
