"""The two demo documents that are not plain text, a Word file in Korean and a PDF in English, from office_files.toml.

    python -m tests.runtime.office_files [FOLDER]

Both files are committed: run this again after changing the text. The PDF is in English because the fonts built into every PDF
reader have no Korean, Chinese or Arabic letters. The same text gives the same PDF, so that a rerun leaves nothing to commit.
"""

import sys
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

from docx import Document
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from index.languages.detection import detect

TEXT = Path(__file__).with_suffix(".toml")
DOCUMENTS = Path(__file__).parents[2] / "runtime" / "demo" / "documents"


def write_word(path: Path, content: dict[str, Any]) -> None:
    document = Document()
    document.core_properties.title = content["title"]
    document.core_properties.author = content["author"]
    document.core_properties.created = document.core_properties.modified = datetime(2023, 5, 15)
    document.add_heading(content["title"], level=1)
    for section in content["section"]:
        paragraphs, rows = section.get("paragraphs", []), section.get("table", [])
        if paragraphs:
            document.add_heading(section["heading"], level=2)
        else:
            document.add_paragraph(section["heading"])
        for text in paragraphs:
            document.add_paragraph(text)
        table = document.add_table(rows=0, cols=len(rows[0])) if rows else None
        for row in rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    document.save(str(path))


def write_pdf(path: Path, content: dict[str, Any]) -> None:
    styles, title = getSampleStyleSheet(), content["title"]
    story: list[Flowable] = [Paragraph(title, styles["Title"])]
    for section in content["section"]:
        paragraphs = section.get("paragraphs", [])
        story.append(Paragraph(section["heading"], styles["Heading2" if paragraphs else "Italic"]))
        story += [Paragraph(text, styles["BodyText"]) for text in paragraphs]
        if rows := section.get("table", []):
            grid = Table(rows, hAlign="LEFT")
            grid.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "grey")]))
            story += [Spacer(0, 3 * mm), grid]
    about = {"title": title, "author": content["author"], "lang": detect(title)}
    SimpleDocTemplate(str(path), pagesize=A4, invariant=1, **about).build(story)


def write(folder: Path = DOCUMENTS) -> None:
    for content in tomllib.loads(TEXT.read_text(encoding="utf-8"))["document"]:
        path = folder / content["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        {".docx": write_word, ".pdf": write_pdf}[path.suffix](path, content)


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:2]))
