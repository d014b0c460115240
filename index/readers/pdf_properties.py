"""The metadata of a PDF: title, author, date, keywords, language, bookmarks."""

import ctypes
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from index.languages import LANGUAGES
from index.model import Metadata

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?(?:(Z)|([+-]\d\d)'?(\d\d)?'?)?")
_FILE_NAME = re.compile(
    r"^Microsoft (?:Office )?\w+ - |\.[a-zA-Z]{2,5}\d?$|^[\w.-]*_[\w.-]*$|^\W*untitled\W*$|^\(|[\\/]\w+$", re.IGNORECASE
)
_LONGEST_OUTLINE = 5000


class Bookmark(NamedTuple):
    """`level` is 1 for the outermost."""

    title: str
    level: int


def title_of(properties: Mapping[str, str]) -> str:
    """The title, unless it is a file's name, which is worse than the document's own first heading."""
    title = " ".join(properties.get("Title", "").split())
    return "" if _FILE_NAME.search(title) or not any(map(str.isalpha, title)) else title


def metadata_of(properties: Mapping[str, str], *, recognized: bool) -> Metadata:
    date = iso_date(properties.get("ModDate", "")) or iso_date(properties.get("CreationDate", ""))
    return Metadata(
        author=" ".join(properties.get("Author", "").replace("(anonymous)", "").split()),  # ReportLab's for no author
        date=date,
        tags=tuple(dict.fromkeys(filter(None, map(str.strip, re.split(r"[,;\n]", properties.get("Keywords", "")))))),
        recognized=recognized,
        saved=bool(date),
    )


def iso_date(text: str) -> str:
    """A PDF's date (`D:20230817105248-07'00'`) as ISO 8601; empty when it is none."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return ""
    year, month, day, hour, minute, second, utc, zone_hours, zone_minutes = match.groups()
    if hour is None or day is None:
        return "-".join(filter(None, (year, month, day)))
    zone = "Z" if utc else f"{zone_hours}:{zone_minutes or '00'}" if zone_hours else ""
    return f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{zone}"


def language_of(document: "PdfDocument") -> str | None:
    """The language that the file declares, if it is in LANGUAGES."""
    from pypdfium2 import raw

    buffer = (ctypes.c_ushort * 32)()
    length = raw.FPDFCatalog_GetLanguage(document.raw, buffer, 64)
    declared = bytes(buffer)[: max(0, length - 2)].decode("utf-16-le", "replace") if length <= 64 else ""
    code = declared.lower().replace("_", "-").partition("-")[0]
    return code if code in LANGUAGES else None


def bookmarks(document: "PdfDocument") -> list[Bookmark]:
    """The outline. PDFium ends an outline that leads back to itself."""
    results: list[Bookmark] = []
    for bookmark in document.get_toc():
        results.append(Bookmark(" ".join(bookmark.get_title().split()), min(bookmark.level + 1, 6)))
        if len(results) >= _LONGEST_OUTLINE:
            break
    return results
