"""What an index is made of in OpenSearch, and how a snapshot becomes visible whole.

    NAME-writer                     one document: the writer, and the number of the newest build
    NAME-gN-passages                the passages of the generation that build N began
    NAME-gN-documents               its catalogue, its counts of n-grams, its states
    NAME-passages, NAME-documents   aliases of the generation in service

Passages are written once and never changed. Each bears the number of the build that wrote it (`born`) and the edition of its
document, which is another whenever its passages are written again. A state names the newest build that counts, the builds that
were given up and the editions that are gone: a search is filtered by them and sees exactly that snapshot, while documents are being
written or refreshed meanwhile, on every copy of a shard. Publishing is one write, of the document `state`; that of a new generation
is one call that moves both aliases.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec
import numpy as np

from index.embedders.embedder import Vectors
from index.model import Entry, Groups, Metadata, Passage
from index.opensearch.client import Address
from index.snapshot.snapshot import Manifest
from index.text.coverage import GramSet

STATE = "state"
PASSAGES, DOCUMENTS = "passages", "documents"
#: As for the graph of the local index.
LINKS, EF_BUILD, EF_SEARCH = 16, 120, 120
#: A filter's pattern of 500 characters, as queries.py writes it.
REGEX_LENGTH = 10_000

type Json = dict[str, Any]


class PassageRecord(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a passage's document that are not searched: all that the ranking and another generation need of it."""

    passage: Passage
    ordinal: int
    metadata: Metadata
    grams: bytes
    phrases: bytes
    lead: bytes
    sketch: bytes
    codes: str
    row: bytes


class Class(msgspec.Struct, frozen=True, kw_only=True):
    """The documents that the same groups may see, None for everybody; their counts of n-grams are in the document `counts`."""

    groups: Groups
    documents: int
    languages: dict[str, int]
    counts: str


def languages_of(classes: Iterable[Class]) -> dict[str, int]:
    """How many passages of these classes there are in each language."""
    total = Counter[str]()
    for one in classes:
        total.update(one.languages)
    return dict(sorted(total.items()))


class State(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot. `build` is the newest that counts, but for those `given_up`; `gone` are editions.

    `since`: when it was published, in seconds. `kept` are the snapshots before it that are still whole.
    """

    manifest: Manifest
    generation: int
    build: int
    given_up: tuple[int, ...] = ()
    gone: tuple[str, ...] = ()
    since: float = 0.0
    kept: tuple[str, ...] = ()
    classes: tuple[Class, ...] = ()


class Names:
    """The names of a generation's two indices."""

    def __init__(self, address: Address, generation: int) -> None:
        self.passages = f"{address.name}-g{generation}-{PASSAGES}"
        self.documents = f"{address.name}-g{generation}-{DOCUMENTS}"


def alias(address: Address, what: str) -> str:
    return f"{address.name}-{what}"


def passages_index(dimension: int, shards: int, replicas: int) -> Json:
    """Terms have a field for each language, so that rarity and mean length are the language's own."""
    return {
        "settings": {
            "index": {
                "number_of_shards": shards,
                "number_of_replicas": replicas,
                "refresh_interval": "-1",
                "max_regex_length": REGEX_LENGTH,
                "knn": True,
                "similarity": {"default": {"type": "BM25", "k1": 0.9, "b": 0.4}},
            }
        },
        "mappings": {
            "dynamic": "strict",
            "dynamic_templates": [
                {
                    "terms": {
                        "path_match": "terms.*",
                        "mapping": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
                    }
                }
            ],
            "_source": {"excludes": ["terms", "vector"]},
            "properties": {
                **_KNOWN,
                "terms": {"type": "object", "dynamic": True},
                "number": {"type": "long"},
                "vector": {
                    "type": "knn_vector",
                    "dimension": dimension,
                    "method": {
                        "engine": "lucene",
                        "name": "hnsw",
                        "space_type": "cosinesimil",
                        "parameters": {"m": LINKS, "ef_construction": EF_BUILD},
                    },
                },
            },
        },
    }


def documents_index(replicas: int) -> Json:
    return {
        "settings": {
            "index": {
                "number_of_shards": 1,
                "number_of_replicas": replicas,
                "refresh_interval": "-1",
                "max_regex_length": REGEX_LENGTH,
            }
        },
        "mappings": {
            "dynamic": "strict",
            "properties": {
                **_KNOWN,
                "formerly": {"type": "keyword"},
                "died": {"type": "long"},
                "snapshot": {"type": "keyword", "index": False},
                "format": {"type": "keyword", "index": False},
            },
        },
    }


#: The filterable fields of a document are on each of its passages too.
_KNOWN: Json = {
    "source_id": {"type": "keyword"},
    "path": {"type": "keyword"},
    "tags": {"type": "keyword"},
    "language": {"type": "keyword"},
    "day": {"type": "keyword"},
    "groups": {"type": "keyword"},
    "everybody": {"type": "boolean"},
    "born": {"type": "long"},
    "edition": {"type": "keyword"},
    "held": {"type": "binary"},
}


def asked_of(entry: Entry) -> Json:
    """What a search may ask of a document, and of each of its passages."""
    groups = entry.groups
    try:
        day = date.fromisoformat(entry.metadata.date[:10]).isoformat()
    except ValueError:
        day = ""
    return {
        "source_id": entry.source_id,
        "path": path_of(entry.source_id),
        "tags": [tag.casefold() for tag in entry.metadata.tags],
        "language": entry.language.casefold().partition("-")[0],
        "groups": groups or [],
        "everybody": groups is None,
    } | ({"day": day} if day else {})


def edition_of(entry: Entry, build: int) -> str:
    return f"{build}-{entry.first}"


def passage_document(entry: Entry, held: PassageRecord, terms: Sequence[str], build: int) -> tuple[str, Json]:
    """Its id, the same whenever the same build writes it, and the document."""
    row = row_of(held)
    document = asked_of(entry) | {
        "born": build,
        "edition": edition_of(entry, build),
        "terms": {field(held.passage.language): " ".join(terms)},
        "number": held.passage.number,
        "held": packed(held),
    }
    if row.any():  # the engine takes no vector of length 0, and nothing is near to it
        document["vector"] = row.tolist()
    return f"{build}-{held.passage.number}", document


def entry_document(entry: Entry, edition: str, build: int) -> tuple[str, Json]:
    """As a passage's; `edition` is that of its passages, which may be older."""
    named = hashlib.sha256(entry.source_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    own = {"born": build, "edition": edition, "formerly": list(entry.formerly), "held": packed(entry)}
    return f"{build}-{named}", asked_of(entry) | own


def field(language: str) -> str:
    """The name of a language's terms; a document may declare any language."""
    return "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in language)[:100] or "none"


def path_of(source_id: str) -> str:
    """The id as the names in it, with a slash after each."""
    return "".join(f"{name}/" for name in source_id.split("/") if name)


def packed(value: object) -> str:
    return base64.b64encode(msgspec.msgpack.encode(value)).decode("ascii")


def unpacked[T](text: str, of: type[T]) -> T:
    return msgspec.msgpack.decode(base64.b64decode(text), type=of)


def row_of(held: PassageRecord) -> Vectors:
    return np.frombuffer(held.row, dtype="<f4").astype(np.float32)


def set_of(raw: bytes) -> GramSet:
    return np.frombuffer(raw, dtype=np.uint16)


def class_of(groups: Groups) -> Groups:
    return None if groups is None else tuple(sorted(set(groups)))


def sees(groups: Groups, named: Iterable[str] | None) -> bool:
    """Whether callers in `groups`, None for all-seeing callers, see documents for the groups `named`."""
    return groups is None or named is None or not set(groups).isdisjoint(named)
