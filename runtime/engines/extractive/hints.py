"""Hints for an exercise that never state its result: the rule that applies, or where to read, and one step to take next."""

import re
from typing import NamedTuple

from index.languages import LANGUAGES, UNDETERMINED, of, spoken, union
from index.languages.detection import detect
from index.text.sentences import split
from prompts.contracts import SECTIONS, AnswerHint, Evidence, StructuredAnswer
from runtime.engines.extractive.answers import STRUCTURED_CHARS
from runtime.engines.extractive.quoted import Quoted
from runtime.engines.extractive.quoting import cite, clean, quote, shorten

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
        nothing = spoken(prompt.language).notices.replies.no_hint
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
    own = set(_NUMBER.findall(prompt.question))
    for evidence, text in sentences:
        shared = own & set(_NUMBER.findall(text))
        worked = len(shared) > 1 or shared == own
        if _is_rule(text) and not worked and detect(text) in (prompt.language, UNDETERMINED):
            return Rule(evidence, cite(text, evidence.n))
    return None


def _is_rule(text: str) -> bool:
    """Whether a text has no number, but for those in formulas with a variable."""
    return not _RESULT.search(_JOINED.sub(_without_formula, text))


def _without_formula(found: re.Match[str]) -> str:
    formula = any(map(str.isalpha, found[0])) and not _SOLVED.search(found[0])
    return " " if formula else found[0]
