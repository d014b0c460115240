"""Small real files of every kind, created where a test needs them."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import docx
import openpyxl
import pptx
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def saved(thing: Any) -> bytes:
    """The bytes of a document, a deck or a book."""
    buffer = io.BytesIO()
    thing.save(buffer)
    return buffer.getvalue()


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
    return saved(document)


def slides() -> bytes:
    deck = pptx.Presentation()
    for title, body in (("Opening", "The gate opens at six."), ("Closing", "The gate closes at ten.")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    return saved(deck)


def sheet() -> bytes:
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Fees"
    for row in (["Course", "Fee"], ["Welding", 320], ["Casting", 410.5]):
        page.append(row)
    return saved(book)


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def bomb() -> bytes:
    """A DOCX of 60 MB of zeros."""
    return zipped({"word/document.xml": b"\0" * 60_000_000})


def far_corner() -> bytes:
    """A sheet with a cell in its last row and column."""
    book = openpyxl.Workbook()
    book.active.append(["Course", "Fee"])
    book.active["XFD1048576"] = "end"
    return saved(book)


def looping_pdf(forms: int = 12, times: int = 12) -> bytes:
    """A PDF by hand: a form draws the next one twelve times, and so on, and the last one the first."""
    resources = "/Resources << /XObject << /F {} 0 R >> /Font << /T 5 0 R >> >>"
    page = b"BT /T 12 Tf 10 10 Td (Begin) Tj ET /F Do"
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R {resources.format(6)} >>",
        f"<< /Length {len(page)} >>\nstream\n{page.decode()}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    drawing = "BT /T 12 Tf 10 10 Td (again) Tj ET " + "/F Do " * times
    for form in range(forms):
        after = 6 + (form + 1) % forms
        kind = f"/Type /XObject /Subtype /Form /BBox [0 0 300 300] {resources.format(after)} /Length {len(drawing)}"
        bodies.append(f"<< {kind} >>\nstream\n{drawing}\nendstream")
    out, starts = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        starts.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    return (
        out
        + (
            f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}"
            f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
        ).encode()
    )
