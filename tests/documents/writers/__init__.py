"""The programs that write each format, from one description. To add a format, write a function and name it in WRITERS.

Nothing here knows the readers.
"""

from collections.abc import Callable
from typing import NamedTuple

from tests.documents.described import Described
from tests.documents.writers import delimited, letters, markup, open_text, pages, sheets, slides, word


class Writer(NamedTuple):
    """Writes a file of this suffix. `holds`: the kinds of blocks that the format has a place for, all where empty.

    `unable`: why the program cannot write a language.
    """

    write: Callable[[Described], bytes]
    holds: tuple[str, ...] = ()
    unable: tuple[tuple[str, str], ...] = ()


_NO_SHAPING = (("ar", "reportlab draws Arabic letters unjoined and from left to right without a shaping engine"),)

WRITERS: dict[str, Writer] = {
    ".csv": Writer(delimited.comma, holds=("table",)),
    ".docm": Writer(word.docm),
    ".docx": Writer(word.docx_),
    ".dotx": Writer(word.dotx),
    ".eml": Writer(letters.eml),
    ".epub": Writer(letters.epub),
    ".html": Writer(markup.html),
    ".ipynb": Writer(letters.notebook),
    ".mbox": Writer(letters.mbox),
    ".md": Writer(markup.markdown),
    ".mdx": Writer(markup.mdx),
    ".ods": Writer(sheets.ods),
    ".odt": Writer(open_text.odt),
    ".pdf": Writer(pages.pdf, unable=_NO_SHAPING),
    ".ppsx": Writer(slides.ppsx),
    ".pptx": Writer(slides.pptx_),
    ".rst": Writer(markup.restructured),
    ".tsv": Writer(delimited.tab, holds=("table",)),
    ".txt": Writer(markup.plain),
    ".xhtml": Writer(markup.xhtml),
    ".xlsm": Writer(sheets.xlsm),
    ".xlsx": Writer(sheets.xlsx),
}
