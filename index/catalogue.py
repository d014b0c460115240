"""The catalogue of a snapshot: one entry for each document."""

from pathlib import Path

import msgspec

from index.errors import IndexProblem
from index.model import Entry

FILE = "documents.msgpack"
_ENTRIES = msgspec.msgpack.Decoder(list[Entry])


def read_catalogue(directory: Path) -> dict[str, Entry]:
    """The documents of a snapshot by source id. Raises IndexProblem."""
    try:
        entries = _ENTRIES.decode((directory / FILE).read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise IndexProblem(
            f"{directory / 'documents.msgpack'} cannot be read ({error}); build the index again"
        ) from error
    return {entry.source_id: entry for entry in entries}
