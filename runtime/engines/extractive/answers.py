"""Answers made of verbatim sentences of the evidence, each with its marker: simple, synthesis, structured."""

from actors.choosing.forms import kind_of
from index.languages import spoken
from index.languages.tables.texts import NoSuchKind
from prompts.contracts import AnswerSimple, AnswerStructured, AnswerSynthesis, StructuredAnswer, Synthesis
from prompts.vocabulary import Confidence
from runtime.engines.extractive.answerable import Lack, lack
from runtime.engines.extractive.chosen import in_brief, is_chosen, quote_chosen, source_line
from runtime.engines.extractive.quoted import Quoted, in_reading_order
from runtime.engines.extractive.quoting import laid_out, quote, texts_of
from runtime.engines.extractive.ranking import rank

SIMPLE_SENTENCES = 4
#: A longer sentence is a list that lost its line breaks; its beginning says what it is about.
SIMPLE_CHARS = 600
#: The longest code, row or list that is quoted whole.
SIMPLE_WHOLE = 1600
SYNTHESIS_CHARS = 400
STRUCTURED_CHARS = 300
DETAILS = 3
#: Characters per token, roughly; Chinese and Korean have fewer, so there the limit is kept with room to spare.
CHARS_A_TOKEN = 2
#: Shares of the question's terms in a sentence directly about it, and in one that is strong on its own.
DIRECT, STRONG = 0.3, 0.6


def answer_simple(prompt: AnswerSimple) -> str:
    """What was chosen as the answer, or else at most four cited sentences.

    A consultation has four at most, its sources and its advice.

    Without evidence, the admission that there is none.
    """
    asked, evidence = prompt.original_query, prompt.retrieved_chunks
    quoted = (
        quote_chosen(asked, evidence, prompt.language)
        if is_chosen(evidence)
        else quote(asked, evidence, prompt.language, SIMPLE_CHARS, SIMPLE_WHOLE)[:SIMPLE_SENTENCES]
    )
    if not quoted:
        return spoken(prompt.language).phrases.refusals.not_in_evidence
    if not prompt.safety_advice:
        return laid_out(in_reading_order(quoted))
    brief = in_brief(quoted, SIMPLE_SENTENCES)
    return f"{laid_out(brief)}\n\n{source_line(brief, prompt.language)}\n\n{prompt.safety_advice}"


def answer_synthesis(prompt: AnswerSynthesis) -> Synthesis:
    """The best cited sentences that fit in 400 characters; a refusal with its reason if none is about the question."""
    quoted = quote(prompt.query, prompt.evidence, prompt.language, SYNTHESIS_CHARS)
    missing = lack(rank(prompt.query, *texts_of(prompt.evidence)), lenient=True)
    if missing or not quoted:
        reason = refusal(missing or "subject", prompt.query, prompt.language)
        return Synthesis(answer="", used_citations=(), confidence="low", refused=True, refuse_reason=reason)
    kept: list[Quoted] = []
    for q in quoted:
        if len(laid_out([*kept, q])) <= SYNTHESIS_CHARS:
            kept.append(q)
    kept = in_reading_order(kept)
    return Synthesis(
        answer=laid_out(kept),
        used_citations=tuple(sorted({e.n for q in kept for e in q.cites})),
        confidence=_confidence(kept),
        refused=False,
        refuse_reason="",
    )


def answer_structured(prompt: AnswerStructured) -> StructuredAnswer:
    """The best sentence as the summary, up to three more as details; the ids of their sources in order of use."""
    quoted = quote(prompt.question, prompt.contexts, prompt.language, STRUCTURED_CHARS)
    if not quoted:
        return StructuredAnswer(
            summary=spoken(prompt.language).phrases.refusals.not_in_evidence, details=(), citations=()
        )
    shown = _within(quoted[: 1 + DETAILS], prompt.max_tokens)
    return StructuredAnswer(summary=shown[0].cited, details=tuple(q.cited for q in shown[1:]), citations=sources(shown))


def sources(quoted: list[Quoted]) -> tuple[str, ...]:
    """The `source_id`s of the sentences, each once, in order of first use."""
    return tuple(dict.fromkeys(e.source_id for q in quoted for e in q.cites))


def refusal(lacking: Lack, question: str, language: str) -> str:
    """Why the evidence does not answer: it names the missing kind of thing, or says that nothing was found."""
    phrases = spoken(language).phrases
    kind = kind_of(question)
    if lacking == "kind" and kind in NoSuchKind.__struct_fields__:
        named: str = getattr(phrases.no_such_kind, kind)
        return named
    return phrases.refusals.no_relation if lacking == "relation" else phrases.refusals.not_in_evidence


def _confidence(kept: list[Quoted]) -> Confidence:
    direct = sum(q.covered >= DIRECT for q in kept)
    return "high" if direct >= 3 else "medium" if direct == 2 or any(q.covered >= STRONG for q in kept) else "low"


def _within(quoted: list[Quoted], max_tokens: int) -> list[Quoted]:
    """As many from the start as fit, but at least one."""
    kept, room = quoted[:1], CHARS_A_TOKEN * max_tokens - len(quoted[0].cited)
    for q in quoted[1:]:
        room -= len(q.cited)
        if room < 0:
            break
        kept.append(q)
    return kept
