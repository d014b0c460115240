"""Formats that are ZIP archives of XML: the check for a ZIP bomb, what a damaged one raises, and what documents say of themselves.

Properties are the core properties of Office Open XML, and OpenDocument's meta.xml.
"""

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol
from xml.etree.ElementTree import Element, ParseError

from index.languages import LANGUAGES
from index.model import Metadata
from index.readers.formats import Unreadable
from index.readers.front_matter import iso_date

if TYPE_CHECKING:
    from lxml import etree

_OLE = b"\xd0\xcf\x11\xe0"
_TYPES = "[Content_Types].xml"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_MAX_UNPACKED = 400 * 1024 * 1024
_MAX_RATIO = 120


@contextmanager
def opened(data: bytes, name: str) -> Iterator[None]:
    """Reading a package called `name`, with every exception of its library turned into Unreadable."""
    look_over(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns about styles it does not know
            yield
    except Unreadable:
        raise
    except (zipfile.BadZipFile, ParseError, LookupError, ValueError, AttributeError, TypeError, OSError, EOFError,
            NotImplementedError, SyntaxError, zlib.error) as error:  # fmt: skip
        raise Unreadable(f"no readable {name} ({type(error).__name__}: {str(error)[:120]})") from error
    except Exception as error:
        # Each library has an exception class of its own for "not one of mine", and none shares a base with the others.
        if type(error).__name__ not in (
            "PackageNotFoundError",
            "InvalidFileException",
            "XMLSyntaxError",
            "InvalidXmlError",
        ):
            raise
        raise Unreadable(f"no readable {name} ({type(error).__name__}: {str(error)[:120]})") from error


def usual(data: bytes, program: str, content_type: str) -> bytes:
    """The package in the one form that its library knows; templates, shows and files with macros differ in their type alone.

    `program` is a pattern for the types of its main part; `content_type` is the usual one. A file saved as Strict Open XML
    has other names for everything, and gets the usual ones.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        types, relations = archive.read(_TYPES), archive.read("_rels/.rels")
        strict = _STRICT.search(relations) is not None
        changed = re.sub(rf"application/vnd\.(?:{program})\.[\w.]+\.main\+xml".encode(), content_type.encode(), types)
        if changed == types and not strict:
            return data
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as copy:
            for name in archive.namelist():
                content = changed if name == _TYPES else archive.read(name)
                if strict and name.endswith((".xml", ".rels")):
                    content = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", content)
                copy.writestr(name, content)
    return file.getvalue()


def look_over(data: bytes) -> None:
    if data.startswith(_OLE):
        raise Unreadable("protected by a password or in the old binary format; save it again without a password")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"damaged archive ({error})") from error
    refuse_bomb(sum(member.file_size for member in members), len(data))


def refuse_bomb(unpacked: int, packed: int) -> None:
    """Raises Unreadable when an archive of `packed` bytes unpacks to more than an honest one would."""
    if unpacked > _MAX_UNPACKED or (unpacked > 20 * 1024 * 1024 and unpacked > _MAX_RATIO * packed):
        raise Unreadable(f"unpacks to {unpacked // 1024**2} MB from {packed / 1024**2:.1f} MB, as a ZIP bomb does")


_BETWEEN = re.compile(r"\s*[,;，、；،؛]\s*")
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"

#: What libraries that write such files name as the author; two of them also leave the date of their template.
_LIBRARIES = frozenset(("python-docx", "openpyxl", "Steve Canny"))
_TEMPLATES_YEAR = 2013


class Core(Protocol):
    """Core properties as the three libraries give them, but for the author, which each names differently."""

    @property
    def keywords(self) -> str | None: ...
    @property
    def version(self) -> str | None: ...
    @property
    def created(self) -> datetime | None: ...
    @property
    def modified(self) -> datetime | None: ...


def metadata(core: Core, author: str | None) -> Metadata:
    moment = core.modified or core.created
    if author in _LIBRARIES:
        author, moment = "", None if moment is not None and moment.year == _TEMPLATES_YEAR else moment
    if moment is not None and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)  # the standard's own zone, which two of the libraries leave out
    return Metadata(
        author=(author or "").strip(),
        date=moment.isoformat() if moment is not None else "",
        version=(core.version or "").strip(),
        tags=_tags(core.keywords or ""),
        saved=moment is not None,
    )


def open_document_metadata(meta: "Element | etree._Element") -> tuple[str, str, Metadata]:
    """The title, the tag of the language and the rest, of meta.xml."""

    def said(name: str) -> str:
        return " ".join((meta.findtext(f".//{name}") or "").split())

    date = iso_date(said(f"{_DUBLIN_CORE}date") or said(f"{_META}creation-date"))
    described = Metadata(
        author=said(f"{_DUBLIN_CORE}creator") or said(f"{_META}initial-creator"),
        date=date,
        saved=bool(date),
        tags=_tags(";".join(one.text or "" for one in meta.iter(f"{_META}keyword"))),
    )
    return said(f"{_DUBLIN_CORE}title"), said(f"{_DUBLIN_CORE}language"), described


def language(tag: str | None) -> str | None:
    """The language of LANGUAGES for a tag such as `ko-KR`; None for a language that is not in LANGUAGES."""
    code = re.split(r"[-_]", (tag or "").strip().lower())[0]
    return code if code in LANGUAGES else None


def _tags(keywords: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(keywords.strip()) if word))
