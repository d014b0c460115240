"""Answers made of verbatim sentences of the evidence, each with its marker: simple, synthesis, structured, report, hint.

A report is Markdown with TL;DR, conclusion and numbered arguments, each a quotation with its source. Where rules chose the answer
it is said once and without that form, unless the report is a consultation's, which closes with advice.

Hints for an exercise never state its result: they name the rule that applies, or where to read, and one step to take next.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from operator import attrgetter
from typing import NamedTuple

from actors.choosing.asked import named_sides
from actors.evidence.standing import of_one_series
from actors.gate.check import check_sentence, withholds
from actors.selecting.overview import lists_documents
from index.languages import LANGUAGES, UNDETERMINED, of, spoken, union
from index.languages.detection import detect
from index.languages.words import terms
from index.text.codes import without_article
from index.text.sentences import split
from prompts import notices
from prompts.contracts import (
    SECTIONS,
    AnswerHint,
    AnswerReport,
    AnswerSimple,
    AnswerStructured,
    AnswerSynthesis,
    Evidence,
    StructuredAnswer,
    Synthesis,
)
from prompts.vocabulary import Confidence
from runtime.engines.extractive.chosen import in_brief, is_chosen, name_of, quote_chosen, source_line, states
from runtime.engines.extractive.quoted import Quoted, in_reading_order
from runtime.engines.extractive.quoting import PARAGRAPH, announced, cite, clean, laid_out, quote, shorten
from runtime.engines.extractive.ranking import lack, rank

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
        return notices.text("replies", "closest", prompt.language)
    if lists_documents(asked):
        return "\n".join(f"- {line}" for line in _with_names(in_reading_order(quoted)))
    if not prompt.safety_advice:
        return _by_document(in_reading_order(quoted))
    brief = in_brief(quoted, SIMPLE_SENTENCES)
    return f"{laid_out(brief)}\n\n{source_line(brief, prompt.language)}\n\n{prompt.safety_advice}"


def _by_document(quoted: list[Quoted]) -> str:
    """The parts in this order; those of several documents of one series below the names, and so the dates, of these."""
    parts = [list(of) for _, of in groupby(quoted, key=attrgetter("evidence.source_id"))]
    if not any(of_one_series(one[0].evidence, other[0].evidence) for one, other in combinations(parts, 2)):
        return laid_out(quoted, by_section=True)
    named = [f"{announced(name_of(of[0].evidence), of[0].evidence.n)}\n{laid_out(of, by_section=True)}" for of in parts]
    return PARAGRAPH.join(named)


def _with_names(quoted: list[Quoted]) -> Iterator[str]:
    """Each part behind the names of the documents that say it: their titles, and paths where titles are equal.

    A path with a number that the document does not have would be withheld or marked: then the title stands there all the same.
    """
    titles = Counter(name_of(each) for q in quoted for each in q.cites)
    for q in quoted:
        plain = [(name_of(each), each.n) for each in q.cites]
        unlike = [
            (name if titles[name] == 1 else each.source_id, n) for (name, n), each in zip(plain, q.cites, strict=True)
        ]
        forms = (f"{_listed(unlike)} {q.cited}", f"{_listed(plain)} {q.cited}")
        yield next((form for form in forms if not check_sentence(form, q.cites)), q.cited)


def _listed(names: Sequence[tuple[str, int]]) -> str:
    *others, last = names
    return ", ".join([*(f"{name} [{n}]" for name, n in others), announced(*last)])


def answer_synthesis(prompt: AnswerSynthesis) -> Synthesis:
    """The best cited sentences that fit in 400 characters; a refusal with its reason if none is about the question."""
    quoted = quote(prompt.query, prompt.evidence, prompt.language, SYNTHESIS_CHARS)
    missing = lack(rank(prompt.query, prompt.language, prompt.evidence), prompt.query)
    if missing or not quoted:
        number = spoken(prompt.language).phrases.refusals.no_number
        reason = number if missing == "kind" else notices.text("replies", "closest", prompt.language)
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
    if is_chosen(prompt.contexts):
        quoted = quote_chosen(prompt.question, prompt.contexts, prompt.language)
        best = next(each for each in prompt.contexts if each.lead)
        quoted.sort(key=lambda each: each.evidence.n != best.n or clean(best.lead) not in each.text)
    else:
        quoted = quote(prompt.question, prompt.contexts, prompt.language, STRUCTURED_CHARS)
    if not quoted:
        return StructuredAnswer(summary=notices.text("replies", "closest", prompt.language), details=(), citations=())
    shown = _within(quoted[: 1 + DETAILS], prompt.max_tokens)
    return StructuredAnswer(summary=shown[0].cited, details=tuple(q.cited for q in shown[1:]), citations=sources(shown))


def sources(quoted: list[Quoted]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(e.source_id for q in quoted for e in q.cites))


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


CONCLUSION_SENTENCES = 4
#: Documents that the summary of a comparison speaks of, in a sentence each.
OF_BOTH_SIDES = 2
MOST_ARGUMENTS = 5

_QUOTE_SIGN = re.compile('["“”„«»「」『』]')


def answer_report(prompt: AnswerReport) -> str:
    """A report with headings in the requested language, or the answer alone; every sentence is verbatim and has its marker."""
    question, evidence, language = prompt.original_query, prompt.evidence, prompt.language
    chosen = quote_chosen(question, evidence, language) if is_chosen(evidence) else []
    if chosen and not prompt.safety_advice:
        return laid_out(chosen, by_section=True)
    phrases = spoken(language).phrases
    quoted = chosen or quote(question, evidence, language)
    if not quoted:
        return notices.text("replies", "closest", language)
    lines = [
        f"**TL;DR** {laid_out(_summary(question, quoted))}",
        "",
        f"## {phrases.headings.conclusion}",
        "",
        laid_out(in_brief(quoted, CONCLUSION_SENTENCES)),
        "",
        f"## {phrases.headings.arguments}",
        "",
        *(f"{number}. {_argument(q, language)}" for number, q in enumerate(_arguments(quoted), 1)),
    ]
    if prompt.safety_advice:
        lines += ["", prompt.safety_advice]
    return "\n".join(lines)


def _summary(question: str, quoted: list[Quoted]) -> list[Quoted]:
    """The sentence that answers; of a comparison one of each of its two first documents."""
    if not named_sides(question):
        return in_brief(quoted, 1)
    documents = list(dict.fromkeys(each.evidence.source_id for each in quoted))[:OF_BOTH_SIDES]
    return [part for name in documents for part in in_brief([q for q in quoted if q.evidence.source_id == name], 1)]


def _arguments(quoted: list[Quoted]) -> list[Quoted]:
    """At most MOST_ARGUMENTS quotations in reading order, of every section one before a second of any; headings only alone."""
    seen: Counter[tuple[str, str]] = Counter()
    turns: list[tuple[int, int]] = []
    quoted = list(filter(states, quoted)) or quoted
    for at, each in enumerate(quoted):
        place = each.evidence.source_id, each.evidence.section
        turns.append((seen[place], at))
        seen[place] += 1
    return in_reading_order([quoted[at] for _, at in sorted(turns)[:MOST_ARGUMENTS]])


def _argument(q: Quoted, language: str) -> str:
    """Title, quotation and document; without quotation marks if the text has its own, and without what the gate would withhold."""
    marks, sources = spoken(language).phrases.quotation_marks, spoken(language).phrases.sources
    document = sources.title.format(title=name_of(q.evidence))
    title = without_article(clean(q.evidence.section.split(SECTIONS)[-1]))
    line = f"\n   {sources.line.format(titles=document)}" if title else ""
    title = title or document
    marked = f"**{title}**: {marks.opening}{q.text.removeprefix(f'{title}: ')}{marks.closing} [{q.evidence.n}]"
    own_marks = "\n" in q.cited or _QUOTE_SIGN.search(q.text)
    forms = (f"**{title}**: {q.cited}",) if own_marks else (marked, f"**{title}**: {q.cited}")
    said = next((form for form in forms if not withholds(check_sentence(form, (q.evidence,)))), q.cited)
    return f"{said}{line}"


LONGEST_NAME = 80
_LONGEST_RULE = max(len(of(language).phrases.hints.rule) for language in LANGUAGES)

# Anything that could be the result of a calculation: digits, numerals in words, an equation.
_RESULT = re.compile(rf"[\d=≈½¼¾²³]|{union(lambda language: language.words.number_words).pattern}", re.IGNORECASE)
#: Terms joined by operators; a formula if one of them is a variable.
_TERM = r"[-−±√(]*\d*[^\W\d_]{0,2}[²³⁴]?[()]*"
_JOINED = re.compile(rf"(?<![^\W_]){_TERM}(?:\s*[-+−±×·*/=^√]+\s*{_TERM})+(?![^\W_])")
_SOLVED = re.compile(r"[=≈]\s*[-−]?[\d.,]*[1-9][\d.,]*[\s)]*$")
_NUMBER = re.compile(r"\d+")


class Rule(NamedTuple):
    evidence: Evidence
    cited: str


def answer_hint(prompt: AnswerHint) -> StructuredAnswer:
    """Quote a rule only if the result must be a number and the rule has none; otherwise name what to read."""
    hints = spoken(prompt.language).phrases.hints
    quoted = quote(prompt.question, prompt.contexts, prompt.language, STRUCTURED_CHARS - _LONGEST_RULE - 2)
    if not quoted:
        nothing = spoken(prompt.language).notices["replies"]["no_hint"]
        return StructuredAnswer(summary=nothing, details=(), citations=())
    rule = _rule(prompt, quoted)
    best = (rule or quoted[0]).evidence
    read = hints.read.format(title=shorten(clean(best.title or best.source_id), LONGEST_NAME), n=best.n)
    heading = shorten(clean(best.section.split(SECTIONS)[-1]), LONGEST_NAME)
    part = (hints.part.format(heading=heading),) if heading and heading != best.title else ()
    return StructuredAnswer(
        summary=f"{hints.rule} {rule.cited}" if rule else read,
        details=(*part, hints.values if rule else hints.find),
        citations=(best.source_id,),
    )


def _rule(prompt: AnswerHint, quoted: list[Quoted]) -> Rule | None:
    """The first rule of the section that fits best; None where nothing is to be computed, as the rule may be the answer.

    A formula with the numbers of the exercise is its solution.
    """
    if not _NUMBER.search(prompt.question):
        return None
    best = quoted[0].evidence
    near = [q for q in quoted if (q.evidence.source_id, q.evidence.section) == (best.source_id, best.section)]
    sentences = [(q.evidence, q.text[start:end]) for q in near for start, end in split(q.text)]
    # A worked example may fit better than the rule beside it.
    wanted, beside = frozenset(terms(prompt.question)), (best.text[start:end] for start, end in split(best.text))
    sentences += [(best, text) for text in beside if not wanted.isdisjoint(terms(text))]
    own = set(_NUMBER.findall(prompt.question))
    for evidence, text in sentences:
        shared = own & set(_NUMBER.findall(text))
        worked = len(shared) > 1 or shared == own
        has_number = _RESULT.search(_JOINED.sub(_without_formula, text))  # but for those in formulas with a variable
        if not has_number and not worked and detect(text) in (prompt.language, UNDETERMINED):
            return Rule(evidence, cite(text, evidence.n))
    return None


def _without_formula(found: re.Match[str]) -> str:
    formula = any(map(str.isalpha, found[0])) and not _SOLVED.search(found[0])
    return " " if formula else found[0]
