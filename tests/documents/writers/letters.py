"""E-mail by the standard library, EPUB and Jupyter notebooks by their bare form: pages of HTML or Markdown in a cover."""

import json
from email.message import EmailMessage
from email.policy import SMTP
from html import escape

from tests.documents.described import Described
from tests.documents.writers.markup import html_body, markdown_body, xhtml
from tests.documents.writers.sheets import packed


def eml(described: Described) -> bytes:
    message = EmailMessage(policy=SMTP)
    message["Subject"] = described.title
    message["From"] = f'"{described.author}" <shed@example.org>'
    message["To"] = "lane@example.org"
    message["Date"] = described.date
    message["Keywords"] = ", ".join(described.tags)
    page = f"<html lang='{described.language}'><body>{html_body(described)}</body></html>"
    message.set_content(page, subtype="html", cte="base64")
    return message.as_bytes()


def mbox(described: Described) -> bytes:
    """A mailbox with this letter and another."""
    other = EmailMessage(policy=SMTP)
    other["Subject"], other["From"], other["Date"] = "Keys", "shed@example.org", described.date
    other.set_content("The keys are with the keeper.")
    start = b"From shed@example.org Sat Mar  2 08:30:00 2024\n"
    letters = (eml(described), other.as_bytes())
    return b"".join(start + letter.replace(b"\r\n", b"\n") + b"\n" for letter in letters)


def epub(described: Described) -> bytes:
    subjects = "".join(f"<dc:subject>{escape(tag)}</dc:subject>" for tag in described.tags)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">shed</dc:identifier>'
        f"<dc:title>{escape(described.title)}</dc:title><dc:creator>{escape(described.author)}</dc:creator>"
        f"<dc:language>{described.language}</dc:language><dc:date>{described.date:%Y-%m-%d}</dc:date>{subjects}</metadata>"
        '<manifest><item id="page" href="page.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="page"/></spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    page = xhtml(described).decode().removeprefix('<?xml version="1.0"?>')
    return packed(
        "application/epub+zip", {"META-INF/container.xml": container, "package.opf": package, "page.xhtml": page}
    )


def notebook(described: Described) -> bytes:
    """A cell of Markdown for each part; the long example is a cell of code."""
    cells = []
    before, fence, rest = markdown_body(described).partition("```python\n")
    code, _, after = rest.partition("\n```")
    assert fence
    for kind, source in (("markdown", before), ("code", code), ("markdown", after)):
        cell: dict[str, object] = {
            "cell_type": kind,
            "id": f"cell{len(cells)}",
            "metadata": {},
            "source": source.strip(),
        }
        cells.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    about = {
        "title": described.title,
        "authors": [{"name": described.author}],
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": cells}, ensure_ascii=False
    ).encode()
