"""Cut a text into its sentences, and tell those that state something from headings, questions, greetings and instructions."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from actors.facts.stems import stems
from index.languages import union
from index.languages.characters import fold, is_han, normal
from index.model import Document
from index.text.citations import strip_markers
from index.text.sentences import split
from index.text.units import Unit, units

#: A sentence with fewer content words states something only with a number.
FEW_WORDS: Final = 2
#: A sentence with fewer content words is about what its lead names.
SHORT_WORDS: Final = 4
#: The most characters of a sentence that are searched for.
LONGEST_QUERY: Final = 1000
_GREETING = re.compile(
    rf"\W*(?:(?:{union(lambda language: language.noise.greetings).pattern}|"
    rf"{union(lambda language: language.noise.fillers).pattern})[\W_]*)+\Z"
)
_TO_READER: Final = union(lambda language: language.noise.instructions, re.NOFLAG)
_NO_STATEMENT = re.compile(r"[?？؟:：][\s\"'”’»)]*\Z|\A(?:https?://\S+\s*)+\Z")
_ENDED = re.compile(r"[.!…。！｡۔][\s\"'”’»)*_]*\Z")
_MARK = re.compile(r"\A\s*(?:[-*+•–]|\d{1,3}[.)])\s+")
#: Addresses on their own after a sentence.
_LINKS = re.compile(r"(?<=[.!?…。！？])(?:\s+https?://\S+)+\s*\Z")
#: The name of a column, which a reader puts before its cell.
_COLUMN = re.compile(r"(?:(?<=\| )|\A)[^|:]{1,60}: ")
#: Markup with letters that a reader leaves out: addresses of links, and tags.
_HIDDEN = re.compile(r"(?<=\])(?:\([^()\s]*\)|\[[^\[\]]*\])|</?[a-zA-Z][^<>]*>")
_ENDS: Final = ".!?…。！？｡؟۔\"'”’»)]%"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence `start..end` of the text, without citation marks. `states`: it claims something.

    `lead`: what it may refer to, which is the sentence before it, what introduces its list, or its heading.
    """

    text: str
    start: int
    end: int
    states: bool
    lead: str = ""

    @property
    def query(self) -> str:
        """What to search for: the sentence, and what a short one is about."""
        short = self.lead and len(stems(normal(self.text))) < SHORT_WORDS
        return (f"{self.lead}\n{self.text}" if short else self.text)[:LONGEST_QUERY]


def claims_of(document: Document) -> Iterator[Claim]:
    """Every sentence of the document, in order."""
    heading = before = ""
    ended = 0
    for unit in units(document.text, document.blocks):
        same_paragraph = "\n\n" not in document.text[ended : unit.start]
        lead = document.text[slice(*unit.intro)] if unit.intro else before if same_paragraph else ""
        written = document.text[unit.start : unit.end]
        for start, end in parts(unit, written):
            text = without_mark(strip_markers(written[start:end]))
            yield Claim(
                text=text,
                start=unit.start + start,
                end=unit.start + end,
                states=states(text, "prose" if end < len(written) else unit.kind),
                lead="" if unit.kind == "heading" else strip_markers(lead or heading),
            )
            lead = before = text
        ended = unit.end
        if unit.kind == "heading":
            heading, before = text, ""


def without_mark(text: str) -> str:
    """The text of an item without its bullet or number and without the addresses after it."""
    return _LINKS.sub("", _MARK.sub("", text)).strip()


def states(sentence: str, kind: str = "prose") -> bool:
    """Whether the sentence, a unit of this kind, claims something that documents could support."""
    plain = without_mark(sentence)
    if kind in ("heading", "table_header", "code") or _NO_STATEMENT.search(plain):
        return False
    # Pairs of Chinese characters overlap: a word has two.
    words = sum(0.5 if is_han(stem.stem[0]) else 1 for stem in stems(normal(plain)))
    counts = any(map(str.isdigit, plain))
    if kind != "table_row":
        if _TO_READER.search(fold(plain)) or _GREETING.match(fold(plain)):
            return False
        if words < SHORT_WORDS and not counts and not _ENDED.search(plain):
            return False  # a label, as items and links are
    return words >= FEW_WORDS or (counts and len(plain.split()) > 1)


def parts(unit: Unit, written: str) -> list[tuple[int, int]]:
    """The sentences of a unit, as offsets into it; of code, the sentence that introduces it, or else all of it."""
    if unit.kind == "code" and unit.code > unit.start:
        return [(0, len(written[: unit.code - unit.start].rstrip()))]
    return (split(written) if unit.kind in ("list_item", "definition") else []) or [(0, len(written))]


def placed(claims: Iterable[Claim], written: str) -> Iterator[Claim]:
    """The claims where they are in the file that their text was read from; readers leave markup out.

    Letters and digits are compared, in order; a claim that is not found has the place of the one before it.
    """
    plain = _HIDDEN.sub(lambda found: " " * len(found[0]), written)
    kept = [at for at, char in enumerate(plain) if char.isalnum()]
    letters = "".join(plain[at] for at in kept)
    start = end = passed = 0
    for claim in claims:
        for text in (claim.text, _COLUMN.sub("", claim.text)):
            wanted = "".join(filter(str.isalnum, text))
            found = letters.find(wanted, passed) if wanted else -1
            if found >= 0:
                passed = found + len(wanted)
                start, end = kept[found], kept[passed - 1] + 1
                tail = written[end : end + 9]
                end += len(tail) - len(tail.lstrip(_ENDS))
                break
        yield msgspec.structs.replace(claim, start=start, end=end)
