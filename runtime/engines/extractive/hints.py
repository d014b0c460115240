"""Hints for an exercise that never state its result: what to read again, and which question to consider next."""

import re

from index.languages import LANGUAGES, of, spoken, union
from index.languages.scripts import is_han, is_hangul
from prompts.contracts import AnswerHint, Evidence, StructuredAnswer
from runtime.engines.extractive.answers import STRUCTURED_CHARS, sources
from runtime.engines.extractive.quoted import Quoted
from runtime.engines.extractive.quoting import clean, quote, shorten

READ_AGAIN = 1
WORDS_NAMED = 4

# Anything that could be the result of a calculation: digits, numerals in words, an equation.
_RESULT = re.compile(rf"[\d=≈½¼¾²³]|{union(lambda language: language.words.number_words).pattern}", re.IGNORECASE)
_LONGEST_RULE = max(len(of(language).phrases.hints.rule) for language in LANGUAGES)
_CALCULATES = re.compile(r"\d")


def answer_hint(prompt: AnswerHint) -> StructuredAnswer:
    """Quote a rule only if the result must be a number and the rule has none; otherwise point to the passage to read."""
    phrases = spoken(prompt.language).phrases
    quoted = quote(prompt.question, prompt.contexts, prompt.language, STRUCTURED_CHARS - _LONGEST_RULE - 2)
    if not quoted:
        return StructuredAnswer(summary=phrases.refusals.not_in_evidence, details=(phrases.hints.given,), citations=())
    rules = [q for q in quoted if not _RESULT.search(q.text)] if _CALCULATES.search(prompt.question) else []
    steps = (phrases.hints.given, phrases.hints.next)
    if rules:
        rule = rules[0]
        return StructuredAnswer(summary=f"{phrases.hints.rule} {rule.cited}", details=steps, citations=sources([rule]))
    to_read = quoted[:READ_AGAIN]
    return StructuredAnswer(
        summary=_reading(prompt.question, to_read[0], prompt.language), details=steps, citations=sources(to_read)
    )


def _reading(question: str, quoted: Quoted, language: str) -> str:
    """Where to look and for what, using only the question's own words."""
    words = ", ".join(_named(question)) or shorten(question, 60).rstrip(" ?？؟.。!")
    return spoken(language).phrases.hints.read.format(title=_title(quoted.evidence), words=words, n=quoted.evidence.n)


def _named(question: str) -> list[str]:
    """The question's longer words without digits, in order: what a reader would look up."""
    words = [w.strip(".,;:?!؟？，。«»\"'()") for w in question.split()]
    long = [w for w in words if len(w) >= (2 if is_han(w) or is_hangul(w) else 5) and not _CALCULATES.search(w)]
    return long[-WORDS_NAMED:] if question and " " in question.strip() else []


def _title(evidence: Evidence) -> str:
    return shorten(clean(evidence.title or evidence.source_id), 80)
