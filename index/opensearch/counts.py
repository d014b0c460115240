"""How many passages contain each hash of an n-gram and of a phrase, for each class of documents that the same groups may see.

A figure for a caller is a sum over the classes that the caller sees, so it reveals nothing of hidden documents.
"""

import base64
import hashlib
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.model import Groups
from index.opensearch.client import Client
from index.opensearch.layout import PassageRecord
from index.text.coverage import SLOTS

#: How many passages contain each gram, and each phrase: two rows.
Counts = NDArray[np.int64]


def nothing() -> Counts:
    return np.zeros((2, SLOTS), dtype=np.int64)


def count(counts: Counts, held: PassageRecord, by: int) -> None:
    """Add a passage (`by` 1) or take it away (-1); each set holds a hash once."""
    counts[0, np.frombuffer(held.grams, dtype=np.uint16)] += by
    counts[1, np.frombuffer(held.phrases, dtype=np.uint16)] += by


def document(groups: Groups, build: int, counts: Counts) -> tuple[str, dict[str, Any]]:
    """Its id, and the document that holds the counts of a class."""
    named = hashlib.sha256(repr(groups).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    raw = zlib.compress(counts.astype("<i8").tobytes(), 1)
    return f"counts-{build}-{named}", {"held": base64.b64encode(raw).decode("ascii")}


def read(client: Client, index: str, name: str) -> Counts:
    reply = client.ask("GET", f"/{index}/_doc/{name}")
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(reply["_source"]["held"])), dtype="<i8")
    return numbers.reshape(2, SLOTS).astype(np.int64)
