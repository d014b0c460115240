"""Write a report: Markdown with TL;DR, conclusion and numbered arguments, each a quotation with its source.

Where rules chose the answer it is said once and without that form, unless the report is a consultation's, which closes with advice.
"""

import re

from actors.gate.check import check_sentence, withholds
from index.languages import spoken
from index.languages.tables.phrases import QuotationMarks
from prompts.contracts import AnswerReport
from runtime.engines.extractive.chosen import is_chosen, quote_chosen
from runtime.engines.extractive.quoted import Quoted, in_reading_order
from runtime.engines.extractive.quoting import clean, laid_out, quote

CONCLUSION_SENTENCES = 3
MOST_ARGUMENTS = 8

_QUOTE_SIGN = re.compile('["“”„«»「」『』]')


def answer_report(prompt: AnswerReport) -> str:
    """A report with headings in the requested language, or the answer alone; every sentence is verbatim and has its marker."""
    if is_chosen(prompt.evidence) and not prompt.safety_advice:
        chosen = quote_chosen(prompt.original_query, prompt.evidence, prompt.language)
        if chosen:
            return laid_out(chosen)
    phrases = spoken(prompt.language).phrases
    quoted = quote(prompt.original_query, prompt.evidence, prompt.language)
    if not quoted:
        return phrases.refusals.not_in_evidence
    conclusion = in_reading_order(quoted[:CONCLUSION_SENTENCES])
    lines = [
        f"**TL;DR** {quoted[0].cited}",
        "",
        f"## {phrases.headings.conclusion}",
        "",
        laid_out(conclusion),
        "",
        f"## {phrases.headings.arguments}",
        "",
    ]
    arguments = in_reading_order(quoted[:MOST_ARGUMENTS])
    lines += [f"{number}. {_argument(q, phrases.quotation_marks)}" for number, q in enumerate(arguments, 1)]
    if prompt.safety_advice:
        lines += ["", prompt.safety_advice]
    return "\n".join(lines)


def _argument(q: Quoted, marks: QuotationMarks) -> str:
    """Title and quotation; without quotation marks if the text has its own, and without what the gate would withhold."""
    name = clean(q.evidence.title or q.evidence.source_id)
    marked = f"**{name}**: {marks.opening}{q.text}{marks.closing} [{q.evidence.n}]"
    own_marks = "\n" in q.cited or _QUOTE_SIGN.search(q.text)
    forms = (f"**{name}**: {q.cited}",) if own_marks else (marked, f"**{name}**: {q.cited}")
    return next((form for form in forms if not withholds(check_sentence(form, (q.evidence,)))), q.cited)
