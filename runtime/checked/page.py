"""A check as one page that works offline: the text with its sentences marked, beside what the documents say of each.

The page has no script. A sentence links to its card and back, and the check boxes that hide verdicts are CSS.
"""

from html import escape
from pathlib import Path
from string import Template
from typing import Final

from actors.checking.report import VERDICTS, CheckedSentence, CheckedSpan, CheckReport
from index.languages import FALLBACK, LANGUAGES, of
from index.languages.detection import detect
from index.languages.scripts import FROM_RIGHT
from index.languages.tables.check import Check
from runtime.checked.file import CheckedFile

_PAGE: Final = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))


def page_of(report: CheckReport, file: CheckedFile) -> str:
    """The page, in the language of the text where that is one of ours."""
    language = detect(file.written)
    language = language if language in LANGUAGES else FALLBACK
    words = of(language).check
    boxes = "".join(
        f'<label class="{verdict}"><input type="checkbox" id="show-{verdict}" checked> {escape(_name(verdict, words))}'
        f" <b>{report.counts[verdict]}</b></label>"
        for verdict in VERDICTS
        if verdict != "no_claim"
    )
    return _PAGE.substitute(
        language=language,
        direction="rtl" if of(language).identity.script in FROM_RIGHT else "ltr",
        title=escape(words.title.format(name=file.name)),
        text_label=escape(words.text),
        documents_label=escape(words.documents),
        boxes=boxes,
        text=_text(report, file, words),
        cards="\n".join(
            _card(number, sentence, words)
            for number, sentence in enumerate(report.sentences)
            if sentence.verdict != "no_claim"
        ),
    )


def _name(verdict: str, words: Check) -> str:
    name: str = getattr(words, verdict)
    return name


def _text(report: CheckReport, file: CheckedFile, words: Check) -> str:
    parts: list[str] = []
    at = 0
    for number, sentence in enumerate(report.sentences):
        if sentence.verdict == "no_claim" or sentence.start < at:
            continue
        parts.append(escape(file.written[at : sentence.start]))
        said = f'<span class="unseen">{escape(_name(sentence.verdict, words))}: </span>'
        shown = said + _marked(file.written[sentence.start : sentence.end], sentence.words)
        parts.append(f'<a class="{sentence.verdict}" id="s{number}" href="#c{number}">{shown}</a>')
        at = sentence.end
    return "".join([*parts, escape(file.written[at:])])


def _card(number: int, sentence: CheckedSentence, words: Check) -> str:
    spans = "".join(_span(span, words) for span in sentence.spans)
    why = f'<p class="why" lang="en" dir="ltr">{escape(sentence.why)}</p>' if sentence.why else ""
    return (
        f'<article class="{sentence.verdict}" id="c{number}"><h2>{escape(_name(sentence.verdict, words))}</h2>'
        f'<p dir="auto"><a href="#s{number}">{_marked(sentence.text, sentence.words)}</a></p>{why}{spans}</article>'
    )


def _span(span: CheckedSpan, words: Check) -> str:
    page = f", {escape(words.page.format(page=span.page))}" if span.page is not None else ""
    title = escape(span.title)
    if span.url.startswith(("https://", "http://")):
        title = f'<a href="{escape(span.url)}" rel="noreferrer">{title}</a>'
    quoted = f'<blockquote dir="auto">{_marked(span.text, span.against)}</blockquote>'
    return f'{quoted}<p class="source" dir="auto">{title}{page}</p>'


def _marked(text: str, words: str) -> str:
    """The text with the first occurrence of the words in dispute marked."""
    at = text.lower().find(words.lower()) if words else -1
    if at < 0 or len(text) != len(text.lower()):
        return escape(text)
    end = at + len(words)
    return f"{escape(text[:at])}<mark>{escape(text[at:end])}</mark>{escape(text[end:])}"
