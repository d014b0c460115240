"""Write the two demo documents that are not plain text: a Word file in Korean and a PDF in English.

    python -m runtime.demo.make_office_files [FOLDER]

The text is in office_files.toml and both files are committed: run this again after changing the text. It needs the
development dependencies (reportlab). The PDF is in English because the fonts built into every PDF reader have no Korean,
Chinese or Arabic letters.
"""

import sys
from datetime import datetime
from pathlib import Path

import msgspec
from docx import Document
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from index.languages.detection import detect

TEXT = Path(__file__).with_name("office_files.toml")
DOCUMENTS = Path(__file__).with_name("documents")


class Section(msgspec.Struct, forbid_unknown_fields=True):
    """A heading, its paragraphs, and the table that follows them, heading row first."""

    heading: str
    paragraphs: list[str] = []
    table: list[list[str]] = []


class OfficeFile(msgspec.Struct, forbid_unknown_fields=True):
    """One file to write; its extension (.docx or .pdf) decides the format."""

    path: str
    title: str
    author: str
    section: list[Section]


class OfficeText(msgspec.Struct, forbid_unknown_fields=True):
    """All of office_files.toml."""

    document: list[OfficeFile]


def read_text() -> list[OfficeFile]:
    """The documents in office_files.toml."""
    return msgspec.toml.decode(TEXT.read_bytes(), type=OfficeText).document


def write_word(path: Path, content: OfficeFile) -> None:
    """A Word file with real headings and a real table."""
    document = Document()
    document.core_properties.title = content.title
    document.core_properties.author = content.author
    document.core_properties.created = document.core_properties.modified = datetime(2023, 5, 15)
    document.add_heading(content.title, level=1)
    for section in content.section:
        if section.paragraphs:
            document.add_heading(section.heading, level=2)
        else:
            document.add_paragraph(section.heading)
        for text in section.paragraphs:
            document.add_paragraph(text)
        if section.table:
            table = document.add_table(rows=0, cols=len(section.table[0]))
            for row in section.table:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
    document.save(str(path))


def write_pdf(path: Path, content: OfficeFile) -> None:
    """Write a PDF; the same text gives the same bytes, so that a rerun leaves nothing to commit."""
    styles = getSampleStyleSheet()
    story: list[Flowable] = [Paragraph(content.title, styles["Title"])]
    for section in content.section:
        story.append(Paragraph(section.heading, styles["Heading2" if section.paragraphs else "Italic"]))
        story += [Paragraph(text, styles["BodyText"]) for text in section.paragraphs]
        if section.table:
            grid = Table(section.table, hAlign="LEFT")
            grid.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "grey")]))
            story += [Spacer(0, 3 * mm), grid]
    template = SimpleDocTemplate(
        str(path), pagesize=A4, title=content.title, author=content.author, lang=detect(content.title), invariant=1
    )
    template.build(story)


WRITERS = {".docx": write_word, ".pdf": write_pdf}


def main(folder: Path = DOCUMENTS) -> None:
    """Write every file under `folder`, creating its folders."""
    for content in read_text():
        path = folder / content.path
        path.parent.mkdir(parents=True, exist_ok=True)
        WRITERS[path.suffix](path, content)
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
