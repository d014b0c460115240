"""A check as one page that works offline: the text with its sentences marked, beside what the documents say of each.

The page has no script. A sentence links to its card and back, and the check boxes that hide verdicts are CSS.
"""

from html import escape
from pathlib import Path
from string import Template
from typing import Final

from groundwire.wire import CheckedSpan

from actors.checking.report import VERDICTS, CheckedSentence, CheckReport, disputed
from index.languages import FALLBACK, LANGUAGES, of
from index.languages.characters import FROM_RIGHT
from index.languages.detection import detect
from index.languages.tables.texts import Check
from runtime.checked.file import CheckedFile

_PAGE: Final = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))


def page_of(report: CheckReport, file: CheckedFile) -> str:
    """The page, in the language of the text where that is one of ours."""
    language = detect(file.written)
    language = language if language in LANGUAGES else FALLBACK
    words = of(language).check
    boxes = "".join(
        f'<label class="{verdict}"><input type="checkbox" id="show-{verdict}" checked> {_name(verdict, words)}'
        f" <b>{report.counts[verdict]}</b></label>"
        for verdict in VERDICTS
        if verdict != "no_claim"
    )
    numbered = [(n, sentence) for n, sentence in enumerate(report.sentences) if sentence.verdict != "no_claim"]
    return _PAGE.substitute(
        language=language,
        direction="rtl" if of(language).identity.script in FROM_RIGHT else "ltr",
        title=escape(words.title.format(name=file.name)),
        text_label=escape(words.text),
        documents_label=escape(words.documents),
        boxes=boxes,
        text=_text(numbered, file.written, words),
        cards="\n".join(_card(number, sentence, words) for number, sentence in numbered),
    )


def _name(verdict: str, words: Check) -> str:
    return escape(getattr(words, verdict))


def _text(numbered: list[tuple[int, CheckedSentence]], written: str, words: Check) -> str:
    parts: list[str] = []
    at = 0
    for number, sentence in numbered:
        if sentence.start < at:
            continue
        shown = _marked(written[sentence.start : sentence.end], sentence.words)
        parts.append(
            f'{escape(written[at : sentence.start])}<a class="{sentence.verdict}" id="s{number}" href="#c{number}">'
            f'<span class="unseen">{_name(sentence.verdict, words)}: </span>{shown}</a>'
        )
        at = sentence.end
    return "".join([*parts, escape(written[at:])])


def _card(number: int, sentence: CheckedSentence, words: Check) -> str:
    spans = "".join(_span(span, words) for span in sentence.spans)
    why = f'<p class="why" lang="en" dir="ltr">{escape(sentence.why)}</p>' if sentence.why else ""
    return (
        f'<article class="{sentence.verdict}" id="c{number}"><h2>{_name(sentence.verdict, words)}</h2>'
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
    before, said, after = map(escape, disputed(text, words))
    return f"{before}<mark>{said}</mark>{after}" if said else before
