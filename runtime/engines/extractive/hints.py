"""Guidance for an exercise that never states its result: what to read again, and the next question to ask oneself."""

import re

from prompts.contracts import AnswerHint, Evidence, StructuredAnswer
from runtime.engines.extractive.answers import STRUCTURED_CHARS, sources
from runtime.engines.extractive.phrases import HINT_GIVEN, HINT_NEXT, HINT_READ, HINT_RULE, say, say_not_in_evidence
from runtime.engines.extractive.quoting import Quoted, clean, quote, shorten

READ_AGAIN = 1
WORDS_NAMED = 4

# Anything that could be the result of a calculation: digits, numerals in words, an equation.
_RESULT = re.compile(
    r"[\d=≈٠-٩½¼¾²³]|[一二两三四五六七八九十百千]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty|hundred|thousand"
    r"|zéro|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|vingt|trente|cent|mille)\b"
    r"|(?:하나|둘|셋|넷|다섯|여섯|일곱|여덟|아홉|열|영)(?![가-힣])|واحد|اثن|ثلاث|اربع|أربع|خمس|ست|سبع|ثمان|تسع|عشر|صفر",
    re.IGNORECASE,
)
_CALCULATES = re.compile(r"\d|[٠-٩]")


def answer_hint(prompt: AnswerHint) -> StructuredAnswer:
    """A rule is quoted only where the result must be a number and the rule has none; else the person is sent to read."""
    quoted = quote(prompt.question, prompt.contexts, prompt.language, STRUCTURED_CHARS - len(say(HINT_RULE, "fr")) - 2)
    if not quoted:
        return StructuredAnswer(
            summary=say_not_in_evidence(prompt.language), details=(say(HINT_GIVEN, prompt.language),), citations=()
        )
    rules = [q for q in quoted if not _RESULT.search(q.text)] if _CALCULATES.search(prompt.question) else []
    steps = (say(HINT_GIVEN, prompt.language), say(HINT_NEXT, prompt.language))
    if rules:
        rule = rules[0]
        return StructuredAnswer(
            summary=f"{say(HINT_RULE, prompt.language)} {rule.cited}", details=steps, citations=sources([rule])
        )
    to_read = quoted[:READ_AGAIN]
    return StructuredAnswer(
        summary=_reading(prompt.question, to_read[0], prompt.language), details=steps, citations=sources(to_read)
    )


def _reading(question: str, quoted: Quoted, language: str) -> str:
    """Where to look and for what, in the question's own words only."""
    words = ", ".join(_named(question)) or shorten(question, 60).rstrip(" ?？؟.。!")
    return say(HINT_READ, language).format(title=_title(quoted.evidence), words=words, n=quoted.evidence.n)


def _named(question: str) -> list[str]:
    """The longer words of the question without digits, in order: what a reader would look up."""
    words = [w.strip(".,;:?!؟？，。«»\"'()") for w in question.split()]
    long = [w for w in words if len(w) >= (2 if w[:1] >= "\u3400" else 5) and not _CALCULATES.search(w)]
    return long[-WORDS_NAMED:] if question and " " in question.strip() else []


def _title(evidence: Evidence) -> str:
    return shorten(clean(evidence.title or evidence.source_id), 80)
