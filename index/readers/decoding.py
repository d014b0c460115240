"""Decode bytes of unknown encoding, trying the usual encodings of our languages."""

import codecs
import re

from index.languages import LANGUAGES, of
from index.readers.formats import Unreadable

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
_DECLARED = re.compile(
    rb"""<meta[^>]+?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]+?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE
)
_DECLARED_WITHIN = 4096
#: What browsers read under a name, where Python reads less.
_MEANT = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "euc-kr": "cp949", "ks_c_5601-1987": "cp949",
    "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932", "big5": "big5hkscs", "iso-8859-9": "cp1254",
}  # fmt: skip
_ONE_BYTE = ("cp125", "iso8859", "koi8", "mac", "cp437", "cp850", "cp866", "latin")


def decode(data: bytes) -> str:
    """The text, with plain newlines. Raises Unreadable when it is not text in any known encoding."""
    return _checked(_decode(data))


def decode_declared(data: bytes, declared: str = "") -> str:
    """As `decode`, for bytes that may name their encoding: `declared` does, or the head of an HTML page or XML file.

    The name is believed when the bytes are text in that encoding; not when any bytes would be and these are UTF-8, as
    hardly any other text is.
    """
    match = _DECLARED.search(data[:_DECLARED_WITHIN])
    name = declared.lower() or ((match[1] or match[2]).decode("ascii").lower() if match else "utf-8")
    try:
        encoding = codecs.lookup(_MEANT.get(name, name)).name
        marked = any(data.startswith(bom) for bom, _ in _BOMS) or encoding.startswith(("utf-16", "utf-32"))
        if not marked and not (encoding.startswith(_ONE_BYTE) and _is_utf8(data)):
            return _checked(data.decode(encoding))
    except (LookupError, UnicodeError):
        pass
    return decode(data)


def _checked(text: str) -> str:
    if len(_CONTROL.findall(text[:_LOOKED_AT])) > 0.1 * len(text[:_LOOKED_AT]):
        raise Unreadable("binary data, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_utf8(data: bytes) -> bool:
    try:
        return bool(data.decode("utf-8")) and not data.isascii()
    except UnicodeDecodeError:
        return False


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
    from charset_normalizer import from_bytes  # here, because every process that reads would wait for it

    head = data[:_LOOKED_AT]
    best = from_bytes(head, cp_isolation=_CANDIDATES).best()
    if best is None:
        raise Unreadable("binary data or an unknown encoding; save it as UTF-8")
    return data.decode(best.encoding, "replace")
