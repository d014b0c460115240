"""reStructuredText by docutils, what it renders without other files: no inclusions, no raw HTML, no messages of the parser."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from index.languages.characters import WIDE
from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable, roman
from index.readers.tabular import joined
from index.readers.text import decode

if TYPE_CHECKING:
    from docutils import nodes

_SETTINGS = {
    "_disable_config": True,
    "docinfo_xform": True,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "input_encoding": "unicode",
    "line_length_limit": 10_000_000,
    "syntax_highlight": "none",
    "warning_stream": False,
}
_BROKEN_WIDE = re.compile(f"(?<=[{WIDE}\uff00-\uffef])\n\\s*(?=[{WIDE}\uff00-\uffef])")
_NUMBERED_ID = re.compile(r"(?:toc-entry-|section-|id|topic-)?\d+")
_UNDEFINED = re.compile(r"^[`|]+|[`|_]+$")
_SKIPPED = frozenset(
    ("comment", "docinfo", "image", "meta", "pending", "raw", "substitution_definition", "system_message", "target",
     "transition", "decoration", "generated")
)  # fmt: skip
#: Fields about the document.
_DOCINFO = frozenset(("author", "authors", "date", "version"))
_ADMONITIONS = frozenset(
    ("attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning")
)  # fmt: skip
_TEXTS = frozenset(("paragraph", "title", "subtitle", "rubric", "caption", "attribution", "line", "term"))


def read_rst(source: Source) -> Document:
    """Raises Unreadable when it nests deeper than docutils can follow."""
    from docutils.core import publish_doctree

    from index.readers.sphinx.directives import admit

    text = decode(source.data)
    admit(text)
    try:
        tree = publish_doctree(text, settings_overrides=_SETTINGS)
    except RecursionError as error:
        raise Unreadable("it nests too deeply to be read as reStructuredText") from error
    metadata = _metadata(tree)
    walk = _Walk(tree)
    walk.blocks(tree.children, 1)
    return walk.builder.finish(source.source_id, walk.title or source.title, metadata=metadata)


def _metadata(tree: "nodes.document") -> Metadata:
    from docutils import nodes

    fields = _fields_below_title(tree)
    fields |= {node.tagname: " ".join(node.astext().split()) for node in tree.findall(nodes.Bibliographic)}
    meta = {node.get("name", ""): node.get("content", "") for node in tree.findall(nodes.meta)}
    tags = meta.get("keywords", "")
    return Metadata(
        author=fields.get("author", "")
        or fields.get("authors", "")
        or ", ".join(author.astext() for author in tree.findall(nodes.author)),
        date=fields.get("date", "") if re.match(r"\d{4}-\d\d-\d\d", fields.get("date", "")) else "",
        version=fields.get("version", ""),
        tags=tuple(dict.fromkeys(filter(None, map(str.strip, tags.split(","))))),
    )


def _fields_below_title(tree: "nodes.document") -> dict[str, str]:
    """The fields between the first heading and its text, taken out of the tree; others stay."""
    visible = [node for node in tree.children if node.tagname not in _SKIPPED]
    if not visible or visible[0].tagname != "section":
        return {}
    first = next((node for node in visible[0].children[1:] if node.tagname not in _SKIPPED), None)
    results: dict[str, str] = {}
    for field in list(first.children) if first is not None and first.tagname == "field_list" else ():
        name = field[0].astext().lower()
        if name in _DOCINFO:
            results[name] = " ".join((field[1].rawsource or field[1].astext()).split())
            field.parent.remove(field)
    return results


class _Walk:
    """Adds the blocks of a tree of nodes; `title` is its first heading."""

    def __init__(self, tree: "nodes.document") -> None:
        self.builder = TextBuilder()
        self.title = ""
        self._titles = {
            name: section[0].astext()
            for name, ident in tree.nameids.items()
            if ident and (section := tree.ids.get(ident)) is not None and section.tagname == "section"
        }

    def blocks(self, nodes: "Iterable[nodes.Node]", section: int, depth: int = 0) -> None:
        """Add what these nodes hold; `section` is the level of a heading among them, `depth` that of the list around them."""
        for node in nodes:
            tag = node.tagname
            if tag in _SKIPPED or (tag == "topic" and "contents" in node["classes"]):
                continue
            if tag in _ADMONITIONS:
                self._admonition(node, section, depth)
            elif (add := getattr(self, f"_add_{tag}", None)) is not None:
                add(node, section, depth)
            elif tag in _TEXTS:
                self.builder.add(self._line(node))
            else:
                self.blocks(node.children, section, depth)

    def _line(self, node: "nodes.Element") -> str:
        return " ".join(_BROKEN_WIDE.sub("", "".join(self._inline(node))).split())

    def _inline(self, node: "nodes.Element") -> Iterator[str]:
        for child in node.children:
            match child.tagname:
                case "#text" | "math":
                    yield child.astext()
                case "literal":
                    yield f"`{child.astext()}`"
                case "footnote_reference" | "citation_reference":
                    yield f"[{child.astext()}]"
                case "problematic":
                    yield _UNDEFINED.sub("", child.astext())
                case "inline":
                    title = self._titles.get(child.get("label", ""), "")
                    yield title or "".join(self._inline(child))
                case tag if tag not in _SKIPPED or tag == "target":
                    yield from self._inline(child)

    def _add_section(self, node: "nodes.section", section: int, depth: int) -> None:
        text = self._line(node[0])
        anchors = [name for name in node["ids"] if not _NUMBERED_ID.fullmatch(name)]
        # A label of the same name as its heading leaves the heading a number.
        anchor = next((name for name in anchors if f"{name}-1" in anchors), anchors[0] if anchors else "")
        self.title = self.title or text
        self.builder.add(text, "heading", min(section, 6), anchor=anchor)
        self.blocks(node.children[1:], section + 1)

    def _add_literal_block(self, node: "nodes.literal_block", section: int, depth: int) -> None:
        classes = [name for name in node["classes"] if name != "code"]
        self.builder.add(node.astext(), "code", syntax=node.get("language", "") or (classes or [""])[0])

    def _add_doctest_block(self, node: "nodes.doctest_block", section: int, depth: int) -> None:
        self.builder.add(node.astext(), "code", syntax="pycon")

    def _add_math_block(self, node: "nodes.math_block", section: int, depth: int) -> None:
        self.builder.add(node.astext(), "code", syntax="latex")

    def _add_line_block(self, node: "nodes.line_block", section: int, depth: int) -> None:
        self.builder.add("\n".join(self._line(line) for line in node.findall() if line.tagname == "line"))

    def _add_block_quote(self, node: "nodes.block_quote", section: int, depth: int) -> None:
        for child in node.children:
            if child.tagname in ("paragraph", "attribution"):
                self.builder.add(self._line(child), "quotation")
            else:
                self.blocks([child], section, depth)

    def _admonition(self, node: "nodes.Element", section: int, depth: int) -> None:
        label = node.tagname.capitalize()
        first, rest = self._paragraphs(node.children)
        self.builder.add(f"{label}: {first}" if first else label)
        self.blocks(rest, section, depth)

    def _add_bullet_list(self, node: "nodes.bullet_list", section: int, depth: int) -> None:
        for item in node.children:
            self._item("-", item, section, depth + 1)

    def _add_enumerated_list(self, node: "nodes.enumerated_list", section: int, depth: int) -> None:
        for number, item in enumerate(node.children, node.get("start", 1)):
            kind = node.get("enumtype", "arabic")
            ordinal = str(number)
            if kind.endswith("alpha") and number <= 26:
                ordinal = chr(96 + number)
            elif kind.endswith("roman"):
                ordinal = roman(number)
            ordinal = ordinal.upper() if kind.startswith("upper") else ordinal
            self._item(f"{node.get('prefix', '')}{ordinal}{node.get('suffix', '.')}", item, section, depth + 1)

    def _item(self, marker: str, item: "nodes.list_item", section: int, depth: int) -> None:
        first, rest = self._paragraphs(item.children)
        if first:
            self.builder.add(f"{marker} {first}", "list_item", depth)
        self.blocks(rest, section, depth)

    def _paragraphs(self, nodes: "list[nodes.Node]") -> "tuple[str, list[nodes.Node]]":
        """The paragraphs that the nodes begin with, on a line each, and the nodes after them."""
        lines: list[str] = []
        for at, node in enumerate(nodes):
            if node.tagname == "paragraph":
                lines.append(self._line(node))
            elif node.tagname not in _SKIPPED:
                return "\n".join(filter(None, lines)), nodes[at:]
        return "\n".join(filter(None, lines)), []

    def _add_definition_list_item(self, node: "nodes.definition_list_item", section: int, depth: int) -> None:
        terms = [self._line(child) for child in node.children if child.tagname in ("term", "classifier")]
        self._definition(", ".join(terms), node.children[-1], section, depth)

    def _add_field(self, node: "nodes.field", section: int, depth: int) -> None:
        self._definition(self._line(node[0]), node[1], section, depth, glue=": ")

    def _add_option_list_item(self, node: "nodes.option_list_item", section: int, depth: int) -> None:
        self._definition(", ".join(option.astext() for option in node[0].children), node[1], section, depth)

    def _definition(self, term: str, told: "nodes.Element", section: int, depth: int, glue: str = "\n") -> None:
        first, rest = self._paragraphs(told.children)
        self.builder.add(f"{term}{glue}{first}" if first else term, "definition")
        self.blocks(rest, section, depth)

    def _add_footnote(self, node: "nodes.footnote", section: int, depth: int) -> None:
        first, rest = self._paragraphs(node.children[1:])
        self.builder.add(f"[{node[0].astext()}] {first}")
        self.blocks(rest, section, depth)

    _add_citation = _add_footnote

    def _add_table(self, node: "nodes.table", section: int, depth: int) -> None:
        group = next(child for child in node.children if child.tagname == "tgroup")
        self.blocks([child for child in node.children if child is not group], section, depth)
        width = group["cols"]
        parts = {part.tagname: self._grid(part.children, width) for part in group.children}
        self.builder.table(parts.get("tbody", []), joined(parts.get("thead", [])))

    def _grid(self, rows: "Iterable[nodes.row]", width: int) -> list[list[str]]:
        """The cells of each row; a cell across several rows is in each of them."""
        lines = list(rows)
        grid: list[list[str | None]] = [[None] * width for _ in lines]
        for at, line in enumerate(lines):
            column = 0
            for entry in line.children:
                while column < width and grid[at][column] is not None:
                    column += 1
                if column >= width:
                    break
                text = self._cell(entry)
                for reached in grid[at : at + 1 + entry.get("morerows", 0)]:
                    reached[column] = text
                column += 1 + entry.get("morecols", 0)
        return [[text or "" for text in line] for line in grid]

    def _cell(self, entry: "nodes.entry") -> str:
        texts = [node for node in entry.findall() if node.tagname in _TEXTS or node.tagname == "literal_block"]
        return " ".join(self._line(node) for node in texts)


FORMATS = (
    Format(
        "reStructuredText",
        (".rst",),
        read_rst,
        "docutils",
        "headings with anchors, lists, definitions, tables, code, quotations, footnotes, admonitions, Sphinx's directives",
        "included files, raw HTML, text that Sphinx takes from program code, pictures",
    ),
)
