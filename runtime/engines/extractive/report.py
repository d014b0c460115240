"""Write a report: Markdown with TL;DR, conclusion and numbered arguments, each a quotation with its source.

Where rules chose the answer it is said once and without that form, unless the report is a consultation's, which closes with advice.
"""

import re
from collections import Counter

from actors.choosing.asked import named_sides
from actors.gate.check import check_sentence, withholds
from index.languages import spoken
from prompts.contracts import SECTIONS, AnswerReport
from runtime.engines.extractive.chosen import in_brief, is_chosen, name_of, quote_chosen
from runtime.engines.extractive.quoted import Quoted, in_reading_order
from runtime.engines.extractive.quoting import clean, laid_out, quote

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
        return laid_out(chosen)
    phrases = spoken(language).phrases
    quoted = chosen or quote(question, evidence, language)
    if not quoted:
        return phrases.refusals.not_in_evidence
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
    """At most MOST_ARGUMENTS quotations in reading order, of every section one before a second of any."""
    seen: Counter[tuple[str, str]] = Counter()
    turns: list[tuple[int, int]] = []
    for at, each in enumerate(quoted):
        place = each.evidence.source_id, each.evidence.section
        turns.append((seen[place], at))
        seen[place] += 1
    return in_reading_order([quoted[at] for _, at in sorted(turns)[:MOST_ARGUMENTS]])


def _argument(q: Quoted, language: str) -> str:
    """Title, quotation and document; without quotation marks if the text has its own, and without what the gate would withhold."""
    marks, sources = spoken(language).phrases.quotation_marks, spoken(language).phrases.sources
    document = sources.title.format(title=name_of(q.evidence))
    title = clean(q.evidence.section.split(SECTIONS)[-1])
    line = f"\n   {sources.line.format(titles=document)}" if title else ""
    title = title or document
    marked = f"**{title}**: {marks.opening}{q.text}{marks.closing} [{q.evidence.n}]"
    own_marks = "\n" in q.cited or _QUOTE_SIGN.search(q.text)
    forms = (f"**{title}**: {q.cited}",) if own_marks else (marked, f"**{title}**: {q.cited}")
    said = next((form for form in forms if not withholds(check_sentence(form, (q.evidence,)))), q.cited)
    return f"{said}{line}"
