"""What a build takes of a document: its passages, and for each the hashes that a search compares.

Made where the document is read, in a process of its own; the build only numbers the passages.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from index import passages
from index.codes import code_words, joined
from index.coverage import LEAD, gram_set, hash_sets
from index.duplicates import sketch
from index.model import Document, Entry, Passage, first_places, indexed_text


class Hashes(msgspec.Struct, frozen=True, array_like=True):
    """Of one passage, as bytes: its sketch (duplicates.py), the sets of its n-grams and phrases (coverage.py), and on the first
    passage of a document the set of its lead. `codes` are the words of its codes (codes.py).
    """

    sketch: bytes
    grams: bytes
    phrases: bytes
    lead: bytes = b""
    codes: str = ""


class Prepared(msgspec.Struct, frozen=True, array_like=True):
    """`entry` and `passages` are numbered from 0; `origin` and `stamp` are the build's to say."""

    entry: Entry
    passages: list[Passage]
    hashes: list[Hashes]


def prepare(document: Document) -> Prepared:
    language = passages.language_of(document)
    cut = passages.cut(document, 0, language)
    entry = Entry(
        source_id=document.source_id,
        title=document.title,
        url=document.url,
        origin="",
        stamp="",
        digest=_digest(document),
        first=0,
        count=len(cut),
        characters=len(document.text),
        language=language,
        metadata=document.metadata,
    )
    return Prepared(entry, cut, hashes(cut))


def hashes(cut: Sequence[Passage]) -> list[Hashes]:
    """One for each passage; those of a document stand together."""
    found: list[Hashes] = []
    for place, first in enumerate(first_places(cut)):
        text = indexed_text(cut[place])
        codes = " ".join(code_words(text))
        grams, phrases = hash_sets(joined(text, codes))
        lead = gram_set(text[:LEAD]).tobytes() if first == place else b""
        found.append(Hashes(sketch(cut[place].text).tobytes(), grams.tobytes(), phrases.tobytes(), lead, codes))
    return found


def _digest(document: Document) -> str:
    parts = (passages.VERSION, document.title, document.language, document.text, document.metadata)
    return hashlib.sha256(msgspec.msgpack.encode(parts)).hexdigest()[:32]
