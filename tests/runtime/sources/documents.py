"""The documents of these tests: of several kinds, in three scripts, with names and contents that try to break out."""

import io
import json
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from tests.index import files

GUIDE = """# Refunds & <returns>

Refunds are paid within **14 days** of the return. See [the form](https://evil.example/form).

| City | Fee |
|------|-----|
| Lyon | 90 euros |
| Oslo | 120 euros |

- Bring the receipt.
- Keep the box.

```python
print("<script>alert(1)</script>")
```

> A receipt is a proof.

<script>alert("no")</script>
<img src=x onerror=alert(2)>
"""

KOREAN = (
    "# 환불 규정\n\n환불은 반품을 받은 날부터 14일 안에 지급됩니다. 배송비 3,000원은 환불되지 않습니다.\n\n"
    + "\n\n".join(
        f"제{n}조 개봉한 소프트웨어는 반품할 수 없습니다. 관리자는 {n}일 안에 답합니다." for n in range(1, 60)
    )
)
ARABIC = (
    "# لائحة الحضور\n\nيجب على الطالب حضور 75 في المئة من المحاضرات. يبدأ الفصل الدراسي في شهر سبتمبر.\n\n"
    "- تغلق المكتبة في الساعة الثامنة.\n"
)
HTML = (
    "<!doctype html><title>Gate</title><h1>Gate</h1><p onclick='alert(1)'>The gate opens at six.</p>"
    "<script>alert(3)</script>"
)
#: Addresses that a client would open, and that no document may have.
LEADING = (
    "javascript:alert(document.cookie)",
    " javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "/\\evil.example/x",
    "//evil.example/x",
    "https:evil.example",
    "https://\\evil.example",
    "https://a.example/\r\nSet-Cookie: a=b",
    "/v1/runs",
    "/sources/guide.md",
)
PEOPLE = (
    "# Who answers 010-1234-5678?\n\nThe desk answers 010-1234-5678.\n\n"
    "## What is kim.minsu@example.com used for?\n\nkim.minsu@example.com is used for letters.\n"
)
LONG = "\n\n".join(
    f"Paragraph {n}. The ferry number {n} leaves at noon and is back before dark on every day." for n in range(4000)
)


def pdf() -> bytes:
    """Three pages; the second has the citation."""
    pages = [
        ["Welcome to the foundry.", "Nothing of note stands on this page."],
        ["Safety", "Every visitor shall wear a helmet in the foundry.", "The helmet is replaced after four years."],
        ["Closing", "The foundry closes at ten in the evening."],
    ]
    return files.pdf([[*lines, f"Page {page}"] for page, lines in enumerate(pages, 1)])


def full_pdf() -> bytes:
    """One long page with more words than a process takes as an argument."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 14_000))
    canvas.setFont("Helvetica", 5)
    for line in range(950):
        canvas.drawString(10, 13_980 - 10 * line, f"{line} " + "the kiln is fired at night and cools until noon " * 3)
    canvas.save()
    return buffer.getvalue()


def write_documents(root: Path) -> None:
    (root / "secret").mkdir(parents=True)
    (root / "a folder").mkdir()
    (root / "guide.md").write_text(GUIDE, encoding="utf-8")
    (root / "a folder" / "환불 규정 #1?.md").write_text(KOREAN, encoding="utf-8")
    (root / "a folder" / "100%25.md").write_text(
        "# Percent\n\nThe percent of the yard is a hundred.\n", encoding="utf-8"
    )
    (root / "الحضور.md").write_text(ARABIC, encoding="utf-8")
    (root / "gate.html").write_text(HTML, encoding="utf-8")
    (root / "long.txt").write_text(LONG, encoding="utf-8")
    (root / "handbook.pdf").write_bytes(pdf())
    (root / "full.pdf").write_bytes(full_pdf())
    (root / "people.md").write_text(PEOPLE, encoding="utf-8")
    (root / "secret" / "board.md").write_text("# Board\n\nThe merger closes in Zanzibar in May.\n", encoding="utf-8")
    (root / "access.toml").write_text('[groups]\n"secret/**" = ["board"]\n', encoding="utf-8")
    records = [
        {"source_id": "../records/one", "title": "One", "text": "The first record tells of the lighthouse."},
        {"source_id": "guide.md/original", "title": "Two", "text": "The second record tells of the harbour."},
        {"source_id": "published", "title": "Three", "text": "The third is published.", "url": "https://example.org/3"},
        *(
            {"source_id": f"led/{n}", "title": "Led", "text": f"The heliograph {n} leads astray.", "url": url}
            for n, url in enumerate(LEADING)
        ),
    ]
    (root / "records.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    inside = {"inside.md": "# Inside\n\nThe archive holds a note about the anchor.\n"}
    (root / "old.zip").write_bytes(files.zipped(inside))
