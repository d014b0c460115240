"""Small real files of every kind, created where a test needs them."""

import io
import zipfile

import docx
import openpyxl
import pptx
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def pdf(pages: list[list[str]], password: str = "") -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=StandardEncryption(password) if password else None)
    canvas.setTitle("Foundry handbook")
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(60, 780 - 16 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Travel rules"
    document.add_heading("Travel", 1)
    document.add_paragraph("Trips are approved by the head of department.")
    document.add_heading("Rates", 2)
    document.add_paragraph("Breakfast is paid.", style="List Bullet")
    document.add_paragraph("Dinner is paid.", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, cells in zip(table.rows, (("City", "Rate"), ("Lyon", "90 euros")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def slides() -> bytes:
    deck = pptx.Presentation()
    for title, body in (("Opening", "The gate opens at six."), ("Closing", "The gate closes at ten.")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def sheet() -> bytes:
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Fees"
    for row in (["Course", "Fee"], ["Welding", 320], ["Casting", 410.5]):
        page.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def bomb() -> bytes:
    """A DOCX of 60 MB of zeros."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * 60_000_000)
    return buffer.getvalue()
