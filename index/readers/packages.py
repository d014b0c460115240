"""Formats that are ZIP archives of XML: the check for a ZIP bomb, and what a damaged one raises."""

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree.ElementTree import ParseError

from index.readers.unreadable import Unreadable

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
