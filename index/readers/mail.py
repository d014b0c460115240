"""E-mail by the standard library: one message (EML), or a box of them (MBOX) as one document."""

import re
from email import message_from_bytes, policy
from email.message import MIMEPart
from email.utils import parsedate_to_datetime

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.html import read_fragment
from index.readers.text import decode_declared

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_BEGIN = re.compile(rb"^From \S+.*\d{4}.*\r?\n", re.MULTILINE)
_QUOTED = re.compile(r"(?:>[ \t]?)+")
_ITEM = re.compile(r"(?:[-*\u2022]|\d{1,3}[.)])[ \t]+(?=\S)")
#: Messages inside messages, beyond which none is read.
_DEEPEST = 5


def read_message(source: Source) -> Document:
    """Raises Unreadable."""
    message = _message(source.data)
    builder = TextBuilder()
    _read(builder, message, 0)
    if not any(message.get(name) for name in _HEADERS) or not builder:
        raise Unreadable("no e-mail message (it has none of the usual headers)")
    return builder.finish(
        source.source_id,
        _header(message, "Subject") or source.title,
        metadata=Metadata(author=_sender(message), date=_date(message)),
    )


def read_box(source: Source) -> Document:
    """Each message is a section with its subject as heading. Raises Unreadable."""
    begins = [*_BEGIN.finditer(source.data)]
    if not begins or source.data[: begins[0].start()].strip():
        raise Unreadable("no readable MBOX (it does not begin with a line that begins with From)")
    builder = TextBuilder()
    for begin, after in zip(begins, [*begins[1:], None], strict=True):
        data = source.data[begin.end() : after.start() if after else None]
        message = _message(re.sub(rb"^>(>*From )", rb"\1", data, flags=re.MULTILINE))
        builder.add(_header(message, "Subject"), "heading", 1)
        _read(builder, message, 0)
    return builder.finish(source.source_id, source.title)


def _message(data: bytes) -> MIMEPart:
    return message_from_bytes(data, policy=policy.default)


def _read(builder: TextBuilder, message: MIMEPart, depth: int) -> None:
    """The headers that a person sees, the text, the messages sent with it, the names of what else is attached."""
    for name in _HEADERS:
        if shown := _header(message, name):
            builder.add(f"{name}: {shown}", "definition")
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = _text(body)
        if body.get_content_subtype() == "html":
            read_fragment(builder, text)
        else:
            _paragraphs(builder, text, flowed=body.get_param("format") == "flowed")
    names = []
    for part in message.iter_attachments() if message.is_multipart() else ():
        if part.get_content_type() == "message/rfc822" and depth < _DEEPEST:
            for inner in part.iter_parts():
                builder.add(_header(inner, "Subject"), "heading", 2)
                _read(builder, inner, depth + 1)
        elif file := part.get_filename():
            names.append(" ".join(file.split()))
    if names:
        builder.add(f"Attachments: {', '.join(names)}")


def _text(part: MIMEPart) -> str:
    """What cannot be decoded is marked: the rest of the message is worth reading."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip():
        return ""
    try:
        return decode_declared(data, part.get_content_charset(""))
    except Unreadable:
        return data.decode("utf-8", "replace")


def _paragraphs(builder: TextBuilder, text: str, *, flowed: bool) -> None:
    """Blocks of plain text: quoted replies, list items, and what an empty line parts."""
    block: list[str] = []
    kind = "prose"
    for line in [*text.split("\n"), ""]:
        quote = _QUOTED.match(line)
        bare = line[quote.end() :] if quote else line
        now = "quotation" if quote else "list_item" if _ITEM.match(bare) else kind if kind == "list_item" else "prose"
        if not bare.strip() or now != kind or (now == "list_item" and _ITEM.match(bare)):
            _add(builder, block, kind)
            block, kind = [], now if bare.strip() else "prose"
        if bare.strip():
            joined = flowed and block and block[-1].endswith(" ")
            block[-1:] = [block[-1] + bare] if joined else [*block[-1:], bare]
    _add(builder, block, kind)


def _add(builder: TextBuilder, lines: list[str], kind: str) -> None:
    text = "\n".join(line.strip() for line in lines)
    if kind == "quotation":
        builder.add(text, "quotation")
    elif kind == "list_item":
        builder.add(re.sub(r"^[*\u2022][ \t]+", "- ", text), "list_item", 1)
    else:
        builder.add(text)


def _header(message: MIMEPart, name: str) -> str:
    try:
        return " ".join(str(message.get(name) or "").split())
    except (ValueError, LookupError, AttributeError, IndexError):  # the library's own parser fails on some broken ones
        return ""


def _sender(message: MIMEPart) -> str:
    sender = _header(message, "From")
    return re.sub(r"\s*<[^>]*>$", "", sender).strip('" ') or sender


def _date(message: MIMEPart) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).isoformat()
    except ValueError:
        return ""


_KEEPS = (
    "sender, receivers, date, subject, text (HTML where there is no plain text), quoted replies, names of attachments"
)
FORMATS = (
    Format("E-mail", (".eml",), read_message, "the standard library", _KEEPS, "attachments, except messages"),
    Format("Mailbox", (".mbox",), read_box, "the standard library", _KEEPS, "attachments, except messages"),
)
