"""Decode bytes of unknown encoding, trying the usual encodings of our languages."""

import codecs
import re

from charset_normalizer import from_bytes

from index.languages import LANGUAGES, of
from index.readers.unreadable import Unreadable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OURS = {encoding for language in LANGUAGES for encoding in of(language).identity.encodings.split()}
_CANDIDATES = [*sorted(_OURS), "utf_16_le", "utf_16_be"]
_LOOKED_AT = 64 * 1024
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")


def decode(data: bytes) -> str:
    """The text, with plain newlines. Raises Unreadable when it is not text in any known encoding."""
    text = _decode(data)
    if len(_CONTROL.findall(text[:_LOOKED_AT])) > 0.1 * len(text[:_LOOKED_AT]):
        raise Unreadable("binary data, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        # Damaged UTF-8 still has many valid multi-byte characters; another encoding has hardly any by chance.
        whole = sum(1 for character in text[:_LOOKED_AT] if ord(character) > 0x7F and character != "\ufffd")
        broken = text[:_LOOKED_AT].count("\ufffd") or 1
        if whole >= 4 * broken or (whole == 0 and broken <= 2 and error.start > 200):
            return text
    head = data[:_LOOKED_AT]
    best = from_bytes(head, cp_isolation=_CANDIDATES).best()
    if best is None:
        raise Unreadable("binary data or an unknown encoding; save it as UTF-8")
    return data.decode(best.encoding, "replace")
