"""Bytes as text, for every reader: by the encoding that they name, or by trying the usual ones of our languages; and plain text as
a document, with its headings, items and lines of columns.

The text of such a document is the file's own, so every offset is an offset into the file.
"""

import codecs
import re
from collections.abc import Iterator

from index.languages import LANGUAGES, every, of, union
from index.model import Block, Document
from index.readers.formats import Format, Source, Unreadable
from index.text.passages import weigh

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


_PART = union(lambda language: language.headings.part).pattern
_CHAPTER = union(lambda language: language.headings.chapter).pattern
_SECTION = union(lambda language: language.headings.section).pattern
_HEADING = re.compile(
    rf"^[ \t]*(?:(?P<part>{_PART})|(?P<chapter>{_CHAPTER})|(?P<section>{_SECTION}))[^\n.。!?]{{0,60}}$", re.MULTILINE
)

_LETTERS = "".join(sorted(set("".join(every(lambda language: language.sentences.enumerators.split())))))
_ITEM = re.compile(
    rf"^(?P<indent>[ \t]*)(?P<mark>(?:[-*+•‣▪●○◦–]|\(?\d{{1,3}}[.)]|[{_LETTERS or '.'}][.)])[ \t]+(?=\S)"
    r"|[①-⑳][ \t]*(?=\S)|\d{1,2}[ \t]{2,}(?=[^\W\d])"  # "1  Apologies"
    r"|[^\W\d_]{2,12} \d{1,2}[ \t]{2,}(?=\S))",  # "Step 1  Empty the tray."
    re.MULTILINE,
)
_PARAGRAPH = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<syntax>[\w+#.-]*)[^\n`]*\n(?:.*\n)*?[ \t]*(?P=fence)[ \t]*$"
    r"|^.*\S.*(?:\n(?!(?:```|~~~)).*\S.*)*",
    re.MULTILINE,
)
_INDENTED = re.compile(r"(?:(?: {4}|\t).*\n?)+")
#: A line of this weight may have been broken by a program.
_BROKEN_AT = 60
_COLONS = ":："
#: The label of a line of facts, "safe code: 0912".
LABEL = re.compile(r"[ \t]*[^\W\d_][^\n:：.!?;,]{0,40}[:：](?=[ \t]+\S)")
#: What divides the columns of a text, and of how many lines a table is at least.
_COLUMNS = re.compile(r"[^\s.,:;!?](?: {2,}|\t+)\S")
_LEAST_ROWS = 3
_STOPS = ".!?。！？؟" + _COLONS
_OPEN = ",;，；、-–" + _STOPS
_HEADING_MARKS = "=*#~_"
#: What no heading has, but for a number of its own.
_SAYS = re.compile(r"[\d:：]")
_OWN_NUMBER = re.compile(r"\A\W*\d{1,3}(?:\.\d{1,3})*[.)]?\s")
#: The level of a line of its own above a list or a text; those of a book's parts are above it.
_LINE_LEVEL = 4


def read_text(source: Source) -> Document:
    text = decode(source.data)
    return Document(source_id=source.source_id, title=source.title, text=text, blocks=chapters(text, titled=True))


def chapters(text: str, *, titled: bool = False) -> tuple[Block, ...]:
    """Blocks of a plain text: lines such as `Chapter 3` are headings, everything between them paragraphs, items and code.

    `titled`: short lines above a list or text are headings too, and so is the first line of all.
    """
    blocks: list[Block] = []
    at = 0
    for match in _HEADING.finditer(text):
        blocks += _paragraphs(text, at, match.start(), titled=titled)
        level = 1 if match["part"] else 2 if match["chapter"] else 3
        blocks.append(Block(match.start(), match.end(), "heading", level))
        at = match.end()
    blocks += _paragraphs(text, at, len(text), titled=titled)
    return tuple(blocks)


def _paragraphs(text: str, start: int, end: int, *, titled: bool) -> Iterator[Block]:
    """What empty lines part; a fence keeps those inside it."""
    announced = False
    for match in _PARAGRAPH.finditer(text, start, end):
        begin, stop = match.start(), match.start() + len(match[0].rstrip())
        begin += len(match[0]) - len(match[0].lstrip("\n"))
        if match["fence"] or (announced and _INDENTED.fullmatch(text, begin, stop)):
            yield Block(begin, stop, "code", syntax=match["syntax"] or "" if match["fence"] else "")
        else:
            yield from _items(text, begin, stop, titled=titled)
        announced = text[stop - 1] in _COLONS


def _items(text: str, start: int, end: int, *, titled: bool) -> Iterator[Block]:
    """A paragraph, or the items in it: from the first line that begins one, each to the next."""
    marks = list(_ITEM.finditer(text, start, end))
    while marks and not _begins(text, start, marks):
        marks.pop(0)
    edges = [*(mark.start("mark") for mark in marks), end]
    if edges[0] > start and (before := text[start : edges[0]].strip()):
        begin = text.index(before[0], start)
        first = titled and _heading(text, begin, before, listed=bool(marks))
        if first:
            yield Block(begin, begin + first, "heading", _LINE_LEVEL if text[:begin].strip() else 1)
        if rest := before[first:].strip():
            begin = text.index(rest[0], begin + first)
            yield from _lines(text, begin, begin + len(rest))
    indents: list[int] = []
    for mark, stop in zip(marks, edges[1:], strict=True):
        indent = len(mark["indent"].expandtabs(4))
        indents = [outer for outer in indents if outer < indent] + [indent]
        begin = mark.start("mark")
        last = _own_end(text, begin, stop, last=stop == end)
        yield Block(begin, begin + len(text[begin:last].rstrip()), "list_item", len(indents))
        if behind := text[last:stop].strip():
            begin = text.index(behind[0], last)
            yield from _lines(text, begin, begin + len(behind))


def _lines(text: str, start: int, end: int) -> Iterator[Block]:
    """A paragraph, or its lines where most are divided into columns by spaces, and none above numbers names these."""
    lines = text[start:end].splitlines(keepends=True)
    columns = sum(bool(_COLUMNS.search(line)) for line in lines) >= len(lines) / 2
    numbers = [any(map(str.isdigit, line)) for line in lines]
    if len(lines) < _LEAST_ROWS or not columns or (any(numbers) and not numbers[0]):
        yield from _facts(lines, start)
        return
    for line in lines:
        stop = start + len(line.rstrip())
        yield Block(start + len(line) - len(line.lstrip()), stop, "table_row")
        start += len(line)


def _facts(lines: list[str], start: int) -> Iterator[Block]:
    """A paragraph, parted before each line with a label where half of them have one."""
    labels = [LABEL.match(line) is not None for line in lines]
    parted = 2 * sum(labels) >= len(lines)
    first, at, end = start, start, start
    for line, label in zip(lines, labels, strict=True):
        if label and parted and at > start:
            yield Block(first, end)
            first = at + len(line) - len(line.lstrip())
        end = at + len(line.rstrip())
        at += len(line)
    yield Block(first, end)


def _heading(text: str, begin: int, before: str, *, listed: bool) -> int:
    """The length of the first line of a paragraph, `before`, if it is a heading; else 0.

    It is one if it is short and without a stop, and stands above a list or running text, or as the first of all by itself. A line
    with a colon or a number says something itself, unless it is marked as a heading, "== 14 January ==", or the number is its own.
    """
    line, _, rest = before.partition("\n")
    line = line.rstrip()
    if weigh(line) >= _BROKEN_AT or line[0].islower() or line[-1] in _OPEN or not any(map(str.isalpha, line)):
        return 0
    if line[0] not in _HEADING_MARKS and _SAYS.search(_OWN_NUMBER.sub("", line)):
        return 0
    after = rest or text[begin + len(before) :].lstrip()
    above = listed or _is_running(after.split("\n", 1)[0]) or (not rest and _ITEM.match(after) is not None)
    return len(line) if above or not (rest or text[:begin].strip()) else 0


def _is_running(line: str) -> bool:
    """Whether a line is of a text, and not of an address, a poem or a table: it is long or ends a sentence, and begins one."""
    line = line.strip()
    begins = bool(line) and line[0].isalpha() and not line[0].islower()
    return begins and (weigh(line) >= _BROKEN_AT or line[-1] in _STOPS)


def _own_end(text: str, begin: int, stop: int, *, last: bool) -> int:
    """Where an item ends before `stop`: at a line that is not indented and does not go on with the one before it.

    A line goes on if it begins with a small letter, or if the line before it is as long as lines that a program breaks.
    Below the `last` item of all, a line that begins with a capital never goes on.
    """
    at = begin
    while (newline := text.find("\n", at, stop)) >= 0:
        broken = weigh(text[at:newline]) >= _BROKEN_AT
        at = newline + 1
        if (
            at < stop
            and not (text[at].isspace() or text[at].islower())
            and (not broken or (last and text[at].isupper()))
        ):
            return at
    return stop


def _begins(text: str, start: int, marks: list[re.Match[str]]) -> bool:
    """Whether the first mark begins a list and is no dash or number that a line was broken at."""
    before = text[start : marks[0].start()].rstrip()
    alone = len(marks) > 1 and (before[-1:] in _STOPS or weigh(before.rpartition("\n")[2]) < _BROKEN_AT)
    return not before or before[-1] in _COLONS or alone


FORMATS = (
    Format(
        "Plain text",
        (".txt", ".text", ".log"),
        read_text,
        "charset-normalizer",
        "lines such as `Chapter 3`, and short ones above a text, as headings; paragraphs, lists, columns, code",
    ),
)
