"""PDF by pypdfium2: its pages, laid out, and its metadata. A scanned page's text is recognised, if that is installed."""

from index.model import Document
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.pdf_document import fill
from index.readers.pdf_page import Page, drawn, has_picture, read_page
from index.readers.pdf_properties import bookmarks, language_of, metadata_of, title_of
from index.readers.pictures import INSTALL, available, recognized


def read_pdf(source: Source) -> Document:
    """Raises Unreadable for a damaged or a protected file, and for a scanned one where no text recognition is installed."""
    import pypdfium2 as pdfium
    from pypdfium2.raw import FPDF_ERR_PASSWORD

    try:
        document = pdfium.PdfDocument(source.data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == FPDF_ERR_PASSWORD or "assword" in str(error):
            raise Unreadable("protected by a password; save it without one") from error
        raise Unreadable(f"no readable PDF ({error})") from error
    with document:
        count = len(document)
        pages: list[Page] = []
        scanned = 0
        for at in range(count):
            try:
                page = document[at]
            except pdfium.PdfiumError:
                continue
            pages.append(read_page(page, at + 1))
            if not pages[-1].runs and has_picture(page):
                scanned += 1
                if available():
                    pages[-1] = recognized(drawn(page), at + 1)
            page.close()
        properties = document.get_metadata_dict()
        outline = bookmarks(document)
        language = language_of(document)
    if not pages:
        raise Unreadable("no page of the PDF can be read")
    builder = TextBuilder()
    title = fill(builder, pages, outline)
    if not builder:
        remedy = "no text is recognised in it" if available() else f"to have its text recognised (OCR), {INSTALL}"
        raise Unreadable(f"no text in its {count} pages, probably scanned; {remedy}")
    return builder.finish(
        source.source_id,
        title_of(properties) or title or source.title,
        language=language,
        metadata=metadata_of(properties, recognized=scanned > 0 and available()),
    )


FORMATS = (
    Format(
        "PDF",
        (".pdf",),
        read_pdf,
        "pypdfium2",
        "pages, headings, paragraphs in the order of columns, lists, plain tables, code, footnotes, properties, bookmarks",
        "running headers and footers, page numbers, pictures",
        extra=f"for scanned pages: {INSTALL}",
    ),
)
