"""Jupyter notebooks by nbformat: cells of Markdown as their reader has them, program text as code, and what it wrote."""

import re
import warnings

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.markdown import read_markdown
from index.readers.text import decode

#: Of what one cell wrote, so much is kept.
_MOST_OUTPUT = 2000
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: How Python names an object without a text form, such as a figure.
_NAMELESS = re.compile(r"<[^<>\n]*>|\[<[^<>\n]*>\]")
_MAGIC = re.compile(r"%%(bash|sh|html|javascript|js|latex|markdown|perl|ruby|sql|R)\b")


def read_notebook(source: Source) -> Document:
    """Raises Unreadable for any other file."""
    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ids that older notebooks lack
            notebook = nbformat.reads(decode(source.data), as_version=4)
            cells, metadata = list(notebook.cells), dict(notebook.metadata)
    except Unreadable:
        raise
    except Exception as error:
        # nbformat and the converters of old versions raise any exception for a wrong file.
        raise Unreadable(f"no readable notebook ({type(error).__name__})") from error
    language = str((metadata.get("language_info") or metadata.get("kernelspec") or {}).get("name", ""))
    builder = TextBuilder()
    title = ""
    for cell in cells:
        if cell.cell_type == "markdown":
            heading = add_markdown(builder, cell.source)
            title = title or heading
        elif cell.cell_type == "code":
            magic = _MAGIC.match(cell.source)
            builder.add(cell.source, "code", syntax=magic[1] if magic else language)
            for output in cell.get("outputs", []):
                _add_output(builder, output)
        else:
            builder.add(cell.source, "code")
    authors = metadata.get("authors") or []
    names = [str(author.get("name", "")) if isinstance(author, dict) else str(author) for author in authors]
    return builder.finish(
        source.source_id,
        str(metadata.get("title") or "") or title or source.title,
        metadata=Metadata(author=", ".join(filter(None, names))),
    )


def add_markdown(builder: TextBuilder, text: str, deeper: int = 0) -> str:
    """Add the blocks of a piece of Markdown, its headings `deeper` than they are, and return the first of them."""
    document = read_markdown(Source(text.encode(), "", "", ".md"))
    title = ""
    for block in document.blocks:
        visible = document.text[block.start : block.end]
        title = title or (visible.strip("# \n") if block.kind == "heading" else "")
        level = min(block.level + deeper, 6) if block.kind == "heading" else block.level
        builder.add(visible, block.kind, level, anchor=block.anchor, syntax=block.syntax)
    return title


def _add_output(builder: TextBuilder, output: dict[str, object]) -> None:
    """The output of a cell, unless it is a picture or a table in HTML, which is there as text too."""
    data = output.get("data")
    if isinstance(data, dict) and data.get("text/markdown"):
        add_markdown(builder, str(data["text/markdown"])[:_MOST_OUTPUT])
        return
    text = str(data.get("text/plain", "") if isinstance(data, dict) else output.get("text", ""))
    if output.get("output_type") == "error":
        text = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    text = _ESCAPES.sub("", text).strip("\n")
    if _NAMELESS.fullmatch(text.strip()):
        return
    if len(text) > _MOST_OUTPUT:
        text = text[:_MOST_OUTPUT].rpartition("\n")[0] or text[:_MOST_OUTPUT]
        text += "\n…"
    builder.add(text, "code", syntax="text")


FORMATS = (
    Format(
        "Jupyter notebook",
        (".ipynb",),
        read_notebook,
        "nbformat",
        "Markdown cells as Markdown, code with its language, the first 2,000 characters of each cell's output",
        "pictures, widgets, tables in HTML",
    ),
)
