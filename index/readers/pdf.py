"""PDF by pypdfium2, page by page. Lines broken only by the width of the page are joined again."""

import re

from index.languages import union
from index.languages.scripts import WIDE
from index.model import Document
from index.readers.building import TextBuilder
from index.readers.formats import Format, Source
from index.readers.unreadable import Unreadable

_ENDS = re.compile(r"[.!?…。！？؟:：;；|]['\"”’»)\]]*$")
_NUMBERED = union(lambda language: language.headings.numbered_line).pattern
_BEGINS = re.compile(rf"^(?:[-*•·▪●○□■◆※]|\(?\d{{1,3}}[.)]\s|[①-⑳]|{_NUMBERED})")
_HAN_END = re.compile(f"[{WIDE}，、；]$")
_HAN_START = re.compile(f"^[{WIDE}]")


def read_pdf(source: Source) -> Document:
    """Raises Unreadable for a damaged, a protected or a scanned file."""
    import pypdfium2 as pdfium
    from pypdfium2.raw import FPDF_ERR_PASSWORD

    try:
        document = pdfium.PdfDocument(source.data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == FPDF_ERR_PASSWORD or "assword" in str(error):
            raise Unreadable("protected by a password; save it without one") from error
        raise Unreadable(f"no readable PDF ({error})") from error
    builder = TextBuilder()
    broken = 0
    with document:
        count = len(document)
        for number in range(count):
            try:
                page = document[number]
                text = page.get_textpage().get_text_range()
            except pdfium.PdfiumError:
                broken += 1
                continue
            builder.page(number + 1)
            for paragraph in join_lines(text):
                builder.add(paragraph)
        named = str(document.get_metadata_dict().get("Title", "")).strip()
    if not builder:
        if broken == count:
            raise Unreadable("no page of the PDF can be read")
        raise Unreadable(f"no text in its {count} pages, probably scanned; run text recognition (OCR) on it first")
    return builder.finish(source.source_id, named or source.title)


def join_lines(text: str) -> list[str]:
    """Paragraphs of a page: a line continues in the next when it is nearly as long as the longest and ends no sentence."""
    lines = [
        line.rstrip() for line in text.replace("\ufffe", "-").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    ]
    longest = max(map(len, lines), default=0)
    paragraphs: list[str] = []
    open_line = False
    for line in lines:
        stripped = line.strip()
        if not stripped:
            open_line = False
            continue
        if open_line and not _BEGINS.match(stripped):
            before = paragraphs[-1]
            if before.endswith("-") and before[-2:-1].isalpha() and stripped[0].islower():
                paragraphs[-1] = before[:-1] + stripped
            else:
                glue = "" if _HAN_END.search(before) and _HAN_START.match(stripped) else " "
                paragraphs[-1] = before + glue + stripped
        else:
            paragraphs.append(stripped)
        open_line = len(line) >= 0.7 * longest and not _ENDS.search(stripped)
    return paragraphs


FORMATS = (
    Format(
        "PDF", (".pdf",), read_pdf, "pypdfium2", "paragraphs and pages", "tables and headings as such; scanned pages"
    ),
)
