"""What a build takes of a document: its passages, and for each the hashes that a search compares.

Made where the document is read, in a process of its own; the build only numbers the passages.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice

import msgspec

from index.model import Document, Entry, Metadata, Passage, first_places, indexed_text
from index.text import passages
from index.text.codes import code_words, joined
from index.text.coverage import LEAD, sets_of
from index.text.near_duplicates import sketches
from index.text.ngrams import encode_all
from index.text.replacing import said_of_others

#: Of so many passages the hashes are made at once: enough that numpy's calls cost little, few enough for the processor's cache.
_TOGETHER = 32


class Hashes(msgspec.Struct, frozen=True, array_like=True):
    """Of one passage, as bytes: its sketch (near_duplicates.py), the sets of its n-grams and phrases (coverage.py), and on the
    first passage of a document the set of its lead. `codes` are the words of its codes (codes.py).
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
    return prepare_all((document,))[0]


def prepare_all(documents: Iterable[Document]) -> list[Prepared]:
    """As `prepare`, of several documents; for short ones that is quicker than one after the other."""
    cut = [(entry, passages) for entry, passages in map(_cut, documents)]
    hashed = iter(hashes([passage for _, passages in cut for passage in passages]))
    return [Prepared(entry, passages, list(islice(hashed, len(passages)))) for entry, passages in cut]


def _cut(document: Document) -> tuple[Entry, list[Passage]]:
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
        metadata=document.metadata if document.metadata.replaces else _with_replaced(document),
    )
    return entry, cut


def _with_replaced(document: Document) -> Metadata:
    said = said_of_others(document.text)
    return msgspec.structs.replace(document.metadata, replaces=said) if said else document.metadata


def hashes(cut: Sequence[Passage]) -> list[Hashes]:
    """One for each passage; those of a document are adjacent."""
    begins = [position == first for position, first in enumerate(first_places(cut))]
    parts = range(0, len(cut), _TOGETHER)
    return [one for at in parts for one in _hashes(cut[at : at + _TOGETHER], begins[at : at + _TOGETHER])]


def _hashes(cut: Sequence[Passage], begins: Sequence[bool]) -> Iterator[Hashes]:
    """`begins`: the passages that begin a document."""
    texts = list(map(indexed_text, cut))
    codes = [" ".join(code_words(text)) for text in texts]
    encoded = encode_all(list(map(joined, texts, codes)))
    bodies = [passage.text for passage in cut]
    sketched = sketches(bodies, encoded, [len(text) - len(body) for text, body in zip(texts, bodies, strict=True)])
    grams, phrases = sets_of(encoded)
    leads = iter(sets_of(encode_all([text[:LEAD] for text in compress(texts, begins)]))[0])
    for position, begin in enumerate(begins):
        lead = next(leads).tobytes() if begin else b""
        yield Hashes(
            sketched[position].tobytes(), grams[position].tobytes(), phrases[position].tobytes(), lead, codes[position]
        )


def _digest(document: Document) -> str:
    parts = (passages.VERSION, document.title, document.language, document.text, document.metadata)
    return hashlib.sha256(msgspec.msgpack.encode(parts)).hexdigest()[:32]
