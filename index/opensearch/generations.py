"""The generations of an index: making one, putting one into service, deleting unread generations."""

import re
from collections import Counter
from collections.abc import Container, Iterator

from index.errors import IndexProblem
from index.opensearch.bulk import PATIENCE_S
from index.opensearch.client import MISSING, Client, RequestRefused
from index.opensearch.layout import DOCUMENTS, PASSAGES, Names, alias, documents_index, passages_index

_EXISTS, _LATE = 400, 408
_COPIES_S = 60
_MOST_SHARDS = 12


def create(client: Client, generation: int, dimension: int) -> Names:
    """Both of its indices: a shard of passages for every node, and a copy of each shard where there is a second node."""
    names = Names(client.address, generation)
    nodes = int(client.ask("GET", "/_cluster/health")["number_of_data_nodes"])
    replicas = min(1, nodes - 1)
    bodies = {
        names.passages: passages_index(dimension, min(max(nodes, 1), _MOST_SHARDS), replicas),
        names.documents: documents_index(replicas),
    }
    for index, body in bodies.items():
        try:
            client.ask("PUT", f"/{index}", body, timeout_s=PATIENCE_S)
        except RequestRefused as refused:
            if refused.status != _EXISTS or "already exists" not in str(refused):
                raise
    return names


def wait_for_copies(client: Client, index: str) -> None:
    """Until the copies of its shards that are being made are there: what has no second copy goes with its node."""
    try:
        client.ask(
            "GET",
            f"/_cluster/health/{index}",
            timeout_s=PATIENCE_S,
            wait_for_no_initializing_shards="true",
            timeout=f"{_COPIES_S}s",
        )
    except RequestRefused as refused:
        if refused.status != _LATE:  # a copy that takes longer than that is not waited for
            raise


def serving(client: Client) -> int | None:
    """The generation in service. Raises IndexProblem."""
    wanted = alias(client.address, DOCUMENTS)
    reply = client.found(f"/_alias/{wanted}")
    if reply is None:
        return None
    (index,) = reply
    match = _pattern(client).fullmatch(index)
    if match is None:
        raise IndexProblem(f"{client.address}: the alias {wanted} is not Groundwire's; name another index")
    return int(match[1])


def point_at(client: Client, generation: int, before: int | None) -> None:
    """Put a generation into service in place of the one before, with one call. Raises IndexProblem when another is there."""
    actions: list[dict[str, dict[str, str | bool]]] = []
    for what in (PASSAGES, DOCUMENTS):
        name = alias(client.address, what)
        if before is not None:
            index = getattr(Names(client.address, before), what)
            actions.append({"remove": {"index": index, "alias": name, "must_exist": True}})
        actions.append({"add": {"index": getattr(Names(client.address, generation), what), "alias": name}})
    try:
        client.ask("POST", "/_aliases", {"actions": actions}, timeout_s=PATIENCE_S)
    except RequestRefused:
        if serving(client) != generation:  # or it was done, and only the reply was lost
            raise


def delete_but(client: Client, kept: Container[int]) -> None:
    """Delete the other generations, those that a dead build left among them."""
    for generation, row in _listed(client, "index"):
        if generation not in kept:
            try:
                client.ask("DELETE", f"/{row['index']}", timeout_s=PATIENCE_S)
            except RequestRefused as refused:
                if refused.status != MISSING:
                    raise


def sizes(client: Client) -> dict[int, int]:
    """The bytes of each generation, of all copies."""
    results = Counter[int]()
    for generation, row in _listed(client, "index,store.size"):
        results[generation] += int(row["store.size"] or 0)
    return dict(results)


def _listed(client: Client, columns: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Every index of a generation, with these columns of it."""
    pattern = _pattern(client)
    reply = client.ask("GET", f"/_cat/indices/{client.address.name}-g*", format="json", bytes="b", h=columns)
    for row in reply["reply"]:
        if match := pattern.fullmatch(row["index"]):
            yield int(match[1]), row


def _pattern(client: Client) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(client.address.name)}-g(\d+)-(?:{PASSAGES}|{DOCUMENTS})")
