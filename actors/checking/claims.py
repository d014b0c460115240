"""Cut a text into its sentences, and tell those that state something from headings, questions, greetings and instructions."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from actors.facts.stems import stems
from index.languages import union
from index.languages.folding import fold, normal
from index.model import Document
from index.text.citations import strip_markers
from index.text.sentences import split
from index.text.units import Unit, units

#: A sentence with fewer content words states something only with a number.
FEW_WORDS: Final = 2
#: A sentence with fewer content words is about what its lead names.
SHORT_WORDS: Final = 4
#: The most characters of a sentence that are compared, and of one that are searched for.
LONGEST, LONGEST_QUERY = 4000, 1000
_GREETING = re.compile(
    rf"\W*(?:(?:{union(lambda language: language.noise.greetings).pattern}|"
    rf"{union(lambda language: language.noise.fillers).pattern})[\W_]*)+\Z"
)
_TO_READER: Final = union(lambda language: language.noise.instructions, re.NOFLAG)
_NO_STATEMENT = re.compile(r"[?？؟:：][\s\"'”’»)]*\Z")
#: So many letters in a row are found where the whole sentence is not.
_SURE_LETTERS: Final = 12
_LONGEST_ADDRESSES: Final = 600
_COLUMN = re.compile(r"(?:(?<=\| )|\A)[^|:]{1,60}: ")
#: Markup with letters that a reader leaves out: addresses of links, and tags.
_HIDDEN = re.compile(r"(?<=\])(?:\([^()\s]*\)|\[[^\[\]]*\])|</?[a-zA-Z][^<>]*>")
_END = re.compile(r"[.!?…。！？؟\"'”’»)\]%]*")
_ENDED = re.compile(r"[.!…。！｡۔][\s\"'”’»)*_]*\Z")
_MARK = re.compile(r"\A\s*(?:[-*+•–]|\d{1,3}[.)])\s+")


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


def claims_of(document: Document) -> tuple[Claim, ...]:
    """Every sentence of the document, in order."""
    return tuple(_claims(document, units(document.text, document.blocks)))


def claim_of(sentence: str, lead: str = "") -> Claim:
    """A sentence by itself."""
    text = strip_markers(sentence).strip()
    return Claim(text=text, start=0, end=len(sentence), states=states(text), lead=lead)


def without_mark(text: str) -> str:
    """The text of an item without its bullet or number."""
    return _MARK.sub("", text).strip()


def states(sentence: str, kind: str = "prose") -> bool:
    """Whether the sentence, a unit of this kind, claims something that documents could support."""
    if kind in ("heading", "table_header", "code"):
        return False
    plain = without_mark(sentence)
    if _NO_STATEMENT.search(plain):
        return False
    folded = fold(plain)
    if _GREETING.match(folded) or (kind != "table_row" and _TO_READER.search(folded)):
        return False
    words, counts = len(stems(normal(plain))), any(map(str.isdigit, plain))
    if kind != "table_row" and not counts and words < SHORT_WORDS and not _ENDED.search(plain):
        return False  # a label, as items and links are
    return words >= FEW_WORDS or (counts and len(plain.split()) > 1)


def parts(unit: Unit, written: str) -> list[tuple[int, int]]:
    """The sentences of a unit, as offsets into it; of code, the sentence that introduces it, or else all of it."""
    whole = [(0, len(written))]
    if unit.kind == "code":
        introduced = len(written[: unit.code - unit.start].rstrip()) if unit.code > unit.start else 0
        return [(0, introduced)] if introduced else whole
    return (split(written) if unit.kind in ("list_item", "definition") else []) or whole


def _claims(document: Document, cut: Sequence[Unit]) -> Iterator[Claim]:
    heading = before = ""
    ended = 0
    for unit in cut:
        written = document.text[unit.start : unit.end]
        lead = document.text[slice(*unit.intro)] if unit.intro else ""
        if not lead and "\n\n" not in document.text[ended : unit.start]:
            lead = before
        for start, end in parts(unit, written):
            text = without_mark(strip_markers(written[start:end]))
            yield Claim(
                text=text,
                start=unit.start + start,
                end=unit.start + end,
                states=states(text, "prose" if unit.kind == "code" and end < len(written) else unit.kind),
                lead="" if unit.kind == "heading" else strip_markers(lead or heading),
            )
            lead = before = text
        ended = unit.end
        if unit.kind == "heading":
            heading, before = text, ""


def placed(claims: Sequence[Claim], written: str) -> list[tuple[int, int]]:
    """Where each claim is in the file that the text was read from, as offsets; readers leave markup out.

    Letters and digits are compared, in order; a claim that is not found has the place of the one before it.
    """
    plain = _HIDDEN.sub(lambda found: " " * len(found[0]), written)
    kept = [at for at, char in enumerate(plain) if char.isalnum()]
    letters = "".join(written[at] for at in kept)
    places: list[tuple[int, int]] = []
    cursor = 0
    for claim in claims:
        row = _COLUMN.sub("", claim.text) if " | " in claim.text else claim.text
        found = _stretch(claim.text, letters, cursor) or _stretch(row, letters, cursor)
        if found is None:
            places.append(places[-1] if places else (0, 0))
            continue
        first, cursor = found
        tail = _END.match(written, kept[cursor - 1] + 1)
        places.append((kept[first], tail.end() if tail else kept[cursor - 1] + 1))
    return places


def _stretch(text: str, letters: str, cursor: int) -> tuple[int, int] | None:
    """Where the letters of a text are from here on; where markup is among them, from their first to their last few."""
    wanted = "".join(filter(str.isalnum, text))
    at = letters.find(wanted, cursor) if wanted else -1
    if at >= 0 or len(wanted) < _SURE_LETTERS:
        return (at, at + len(wanted)) if at >= 0 else None
    at = letters.find(wanted[:_SURE_LETTERS], cursor)
    if at < 0:
        return None
    end = letters.find(wanted[-_SURE_LETTERS:], at, at + len(wanted) + _LONGEST_ADDRESSES)
    return at, (end if end >= 0 else at) + _SURE_LETTERS
