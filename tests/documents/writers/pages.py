"""PDF by reportlab."""

import io
import re
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.platypus import ListFlowable, ListItem, Paragraph, SimpleDocTemplate, Spacer, XPreformatted
from reportlab.platypus import Table as DrawnTable

from tests.documents import described as d

#: Fonts that every PDF program has; the names are Adobe's.
_FONTS = {"ko": "HYSMyeongJo-Medium", "zh": "STSong-Light"}


def pdf(described: d.Described) -> bytes:
    font = _FONTS.get(described.language, "Helvetica")
    if described.language in _FONTS:
        registerFont(UnicodeCIDFont(font))
    sample = getSampleStyleSheet()
    wrap = "CJK" if described.language in _FONTS else None
    styles = {
        name: ParagraphStyle(name, parent=sample[name], fontName=font, wordWrap=wrap)
        for name in ("Normal", "Heading1", "Heading2")
    }
    styles["Code"] = sample["Code"]
    story: list[object] = []
    for block in described.blocks:
        match block:
            case d.Heading():
                story.append(Paragraph(block.text, styles[f"Heading{block.level}"]))
            case d.Prose():
                story.append(
                    Paragraph(_inline(block.text) + ("<super>1</super>" if block.note else ""), styles["Normal"])
                )
                if block.note:
                    story += [Spacer(1, 12), Paragraph(f"<super>1</super> {block.note}", styles["Normal"])]
            case d.Items():
                story.append(_list(block.items, font, styles, ordered=block.ordered))
            case d.Table():
                story += [Spacer(1, 12), Paragraph(block.caption, styles["Normal"]), Spacer(1, 6), _table(block, font)]
            case d.Code():
                story.append(_code(block.text, font, styles))
            case d.Quotation():
                story.append(Paragraph(block.text, ParagraphStyle("Quote", parent=styles["Normal"], leftIndent=30)))
            case d.Definition():
                story.append(Paragraph(f"{block.term}: {block.text}", styles["Normal"]))
        story.append(Spacer(1, 12))
    file = io.BytesIO()
    template = SimpleDocTemplate(
        file, title=described.title, author=described.author, keywords=", ".join(described.tags), invariant=True
    )
    template.build(story)
    return file.getvalue()


def _inline(text: str) -> str:
    return "".join(f'<font name="Courier">{part}</font>' if code else part for part, code in d.inline(text))


def _code(text: str, font: str, styles: dict[str, ParagraphStyle]) -> XPreformatted:
    """Courier, and the document's font for the letters that Courier lacks."""
    marked = re.sub(
        r"[^\x00-\xff]+(?: [^\x00-\xff]+)*", lambda found: f'<font name="{font}">{found[0]}</font>', escape(text)
    )
    return XPreformatted(marked, styles["Code"])


def _list(items: list[d.Item], font: str, styles: dict[str, ParagraphStyle], *, ordered: bool = False) -> ListFlowable:
    made = []
    for item in items:
        inside: list[object] = [Paragraph(_inline(item.text), styles["Normal"])]
        if item.code:
            inside.append(_code(item.code, font, styles))
        if item.inner:
            inside.append(_list(item.inner, font, styles))
        made.append(ListItem(inside))
    return ListFlowable(made, bulletType="1" if ordered else "bullet", bulletFormat="%s." if ordered else None)


def _table(table: d.Table, font: str) -> DrawnTable:
    styles: list[tuple[object, ...]] = [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("FONTNAME", (0, 0), (-1, -1), font),
    ]
    rows = []
    for at, line in enumerate(d.placed(table)):
        rows.append(["" if one is None else d.flat(one.cell) for one in line])
        for column, one in enumerate(line):
            if one is not None and (one.down > 1 or one.across > 1):
                styles.append(("SPAN", (column, at), (column + one.across - 1, at + one.down - 1)))
    return DrawnTable(rows, style=styles)
