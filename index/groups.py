"""Groups that may see documents: how their names are compared, and what several statements about one document come to."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

#: Names of groups; None: public. Empty: only for callers who see every document.
type Groups = tuple[str, ...] | None


def group_name(name: str) -> str:
    """The name as names are compared: accents in one spelling, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def narrowed(named: Iterable[Groups]) -> Groups:
    left: Groups = None
    for groups in named:
        if groups is not None:
            own = dict.fromkeys(map(group_name, groups))
            left = tuple(name for name in own if left is None or name in left)
    return left


def access_digest(documents: Mapping[str, Groups]) -> str:
    """A digest of the groups of every document; empty without groups."""
    named = sorted((source_id, *groups) for source_id, groups in documents.items() if groups is not None)
    return hashlib.sha256(repr(named).encode("utf-8", "surrogatepass")).hexdigest()[:32] if named else ""


def counted(documents: Iterable[Groups]) -> dict[str, int]:
    """How many documents each group sees besides public documents, for display; empty when all are public."""
    counts = Counter[str]()
    for groups in documents:
        counts.update(("(everybody)",) if groups is None else groups or ("(nobody)",))
    return dict(sorted(counts.items())) if set(counts) - {"(everybody)"} else {}


def counts_line(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
