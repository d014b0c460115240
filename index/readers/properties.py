"""What office documents say of themselves: the core properties of Office Open XML, and OpenDocument's meta.xml."""

import re
from datetime import UTC, datetime
from typing import Protocol
from xml.etree.ElementTree import Element

from index.languages import LANGUAGES
from index.model import Metadata

_BETWEEN = re.compile(r"\s*[,;，、；،؛]\s*")
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"


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
    if moment is not None and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)  # the standard's own zone, which two of the libraries leave out
    return Metadata(
        author=(author or "").strip(),
        date=moment.isoformat() if moment is not None else "",
        version=(core.version or "").strip(),
        tags=_tags(core.keywords or ""),
    )


def open_document_metadata(meta: Element) -> tuple[str, str | None, Metadata]:
    """The title, the language and the rest, of meta.xml."""

    def said(name: str) -> str:
        return " ".join((meta.findtext(f".//{name}") or "").split())

    described = Metadata(
        author=said(f"{_DUBLIN_CORE}creator") or said(f"{_META}initial-creator"),
        date=said(f"{_DUBLIN_CORE}date") or said(f"{_META}creation-date"),
        tags=_tags(";".join(one.text or "" for one in meta.iter(f"{_META}keyword"))),
    )
    return said(f"{_DUBLIN_CORE}title"), language(said(f"{_DUBLIN_CORE}language")), described


def language(tag: str | None) -> str | None:
    """The language of LANGUAGES for a tag such as `ko-KR`; None for a language that is not in LANGUAGES."""
    code = re.split(r"[-_]", (tag or "").strip().lower())[0]
    return code if code in LANGUAGES else None


def _tags(keywords: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in _BETWEEN.split(keywords.strip()) if word))
