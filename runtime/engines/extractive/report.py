"""The report: Markdown with TL;DR, conclusion and numbered arguments, each a quotation with its source."""

import re

from actors.gate.check import check_sentence, withholds
from prompts.contracts import AnswerReport
from runtime.engines.extractive.phrases import ARGUMENTS, CONCLUSION, QUOTES, say, say_not_in_evidence
from runtime.engines.extractive.quoting import Quoted, clean, in_reading_order, quote

CONCLUSION_SENTENCES = 3
MOST_ARGUMENTS = 8

_QUOTE_SIGN = re.compile('["“”„«»「」『』]')


def answer_report(prompt: AnswerReport) -> str:
    """Headings in the asked language; every sentence is verbatim and carries its marker."""
    quoted = quote(prompt.original_query, prompt.evidence, prompt.language)
    if not quoted:
        return say_not_in_evidence(prompt.language)
    conclusion = in_reading_order(quoted[:CONCLUSION_SENTENCES])
    lines = [
        f"**TL;DR** {quoted[0].cited}",
        "",
        f"## {say(CONCLUSION, prompt.language)}",
        "",
        " ".join(q.cited for q in conclusion),
        "",
        f"## {say(ARGUMENTS, prompt.language)}",
        "",
    ]
    arguments = in_reading_order(quoted[:MOST_ARGUMENTS])
    lines += [f"{number}. {_argument(q, prompt.language)}" for number, q in enumerate(arguments, 1)]
    if prompt.safety_advice:
        lines += ["", prompt.safety_advice]
    return "\n".join(lines)


def _argument(q: Quoted, language: str) -> str:
    """Title and quotation; without quotation marks where the text has its own, and without what the gate would not pass."""
    name = clean(q.evidence.title or q.evidence.source_id)
    opening, closing = say(QUOTES, language)
    marked = f"**{name}**: {opening}{q.text}{closing} [{q.evidence.n}]"
    forms = (marked, f"**{name}**: {q.cited}") if not _QUOTE_SIGN.search(q.text) else (f"**{name}**: {q.cited}",)
    return next((form for form in forms if not withholds(check_sentence(form, (q.evidence,)))), q.cited)
