"""The snapshots of an index over OpenSearch: which there are, what each is, and the model that travels with a generation."""

import re
from typing import Any, NamedTuple

from index.backend import Snapshots
from index.embedders import pieces
from index.embedders.embedder import Embedder, check_match
from index.errors import IndexProblem
from index.model import FORMAT
from index.opensearch import generations
from index.opensearch.backend import OpenSearchBackend
from index.opensearch.bulk import PATIENCE_S
from index.opensearch.client import CONFLICT, Address, Client, RequestRefused
from index.opensearch.layout import DOCUMENTS, STATE, Names, State, alias, packed, unpacked

#: What a sink names a snapshot: its generation and its build, and a random end.
_ID = re.compile(r"g(\d{6,})-u\d{6,}-[0-9a-f]{8}")
#: Far below what a cluster takes in one request.
_CHUNK_BYTES = 4 * 2**20


class Current(NamedTuple):
    """The state in service, and which version of its document that is."""

    state: State
    version: tuple[int, int]


class OpenSearchSnapshots(Snapshots):
    """Those of one index; as a string its address. Damage is the cluster's to repair."""

    #: What an earlier snapshot refers to is deleted a minute after the next but one begins.
    look_s, longest_open_s = 1.0, 50.0

    def __init__(self, address: Address) -> None:
        """Raises IndexProblem."""
        self.client = Client(address)

    def __str__(self) -> str:
        return str(self.client.address)

    def newest(self) -> str:
        index = alias(self.client.address, DOCUMENTS)
        return str(_newest(self.client, index, _source_includes="snapshot")["snapshot"])

    def names(self) -> list[str]:
        """What a state keeps was whole when it was published; a passage that is gone since is purged some time later."""
        result = current(self.client)
        return [*result.state.kept, result.state.manifest.snapshot] if result is not None else []

    def open(self, name: str | None, embedder: Embedder | None) -> OpenSearchBackend:
        state = read_state(self.client, name)
        spec = state.manifest.embedder
        if embedder is None:
            if spec.name != pieces.NAME:
                raise IndexProblem(f"the index was built with embedder {spec.name} {spec.version}; configure it")
            embedder = pieces.Pieces()
        check_match(spec, embedder.spec)
        return OpenSearchBackend(self.client, state, embedder)

    def sizes(self) -> dict[int, int]:
        """How many bytes each generation takes, all copies. Raises IndexProblem."""
        return generations.sizes(self.client)

    def close(self) -> None:
        self.client.close()


def read_state(client: Client, name: str | None = None) -> State:
    """Of a snapshot, by default of the current one. Raises IndexProblem."""
    if name is None:
        return _state(client, _newest(client, alias(client.address, DOCUMENTS)))
    reply = client.found(f"/{Names(client.address, generation_of(name)).documents}/_doc/{name}")
    if reply is not None:
        return _state(client, reply["_source"])
    newest = read_state(client)
    kept = ", ".join([*newest.kept, newest.manifest.snapshot])
    raise IndexProblem(f"no snapshot {name} in {client.address} (there is: {kept}); name one of these")


def current(client: Client) -> Current | None:
    """None where there is no index. Raises IndexProblem."""
    generation = generations.serving(client)
    if generation is None:
        return None
    reply = client.ask("GET", f"/{Names(client.address, generation).documents}/_doc/{STATE}")
    return Current(_state(client, reply["_source"]), (reply["_seq_no"], reply["_primary_term"]))


def replace(client: Client, index: str, document: dict[str, str], before: Current | None) -> None:
    """Replace the state that was read before. Raises IndexProblem when it has changed since."""
    if before is None:
        raise IndexProblem(f"{client.address}: there is no state to replace; build again")
    only: dict[str, Any] = {"if_seq_no": before.version[0], "if_primary_term": before.version[1]}
    try:
        client.ask("PUT", f"/{index}/_doc/{STATE}", document, timeout_s=PATIENCE_S, **only)
    except RequestRefused as refused:
        # A reply that was lost, and the second try, look like a conflict.
        if refused.status != CONFLICT or _newest(client, index)["snapshot"] != document["snapshot"]:
            raise


def generation_of(name: str) -> int:
    """0, no generation, for any other name."""
    match = _ID.fullmatch(name)
    return int(match[1]) if match else 0


def _state(client: Client, found: dict[str, Any]) -> State:
    if int(found["format"]) != FORMAT:
        raise IndexProblem(
            f"{client.address} is of format {found['format']}, this version reads {FORMAT};"
            " build it again with 'groundwire index build'"
        )
    return unpacked(found["held"], State)


def _newest(client: Client, index: str, **params: str) -> dict[str, Any]:
    """The document of the newest state. Raises IndexProblem."""
    reply = client.found(f"/{index}/_doc/{STATE}", **params)
    if reply is None:
        raise no_index(client)
    source: dict[str, Any] = reply["_source"]
    return source


def no_index(client: Client) -> IndexProblem:
    where = client.address
    return IndexProblem(f"no index at {where}; build one with 'groundwire index build PATH --index {where}'")


def state_document(state: State) -> dict[str, str]:
    return {"snapshot": state.manifest.snapshot, "format": str(FORMAT), "held": packed(state)}
