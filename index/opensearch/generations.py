"""The generations of an index: making one, putting one into service, deleting unread generations; and their one writer.

The writer of an index is one process at a time, known by a document that it keeps fresh.
"""

import contextlib
import os
import re
import socket
import threading
import time
from collections.abc import Container
from typing import Any

from index.errors import IndexProblem
from index.opensearch.bulk import PATIENCE_S
from index.opensearch.client import Client, RequestRefused
from index.opensearch.layout import DOCUMENTS, PASSAGES, Names, alias, documents_index, passages_index

_EXISTS, _MISSING, _LATE = 400, 404, 408
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
    try:
        reply = client.ask("GET", f"/_alias/{wanted}")
    except RequestRefused as refused:
        if refused.status != _MISSING:
            raise
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
    pattern = _pattern(client)
    listed = client.ask("GET", f"/_cat/indices/{client.address.name}-g*", format="json", h="index")["reply"]
    for row in listed:
        match = pattern.fullmatch(row["index"])
        if match is not None and int(match[1]) not in kept:
            try:
                client.ask("DELETE", f"/{row['index']}", timeout_s=PATIENCE_S)
            except RequestRefused as refused:
                if refused.status != _MISSING:
                    raise


def sizes(client: Client) -> dict[int, int]:
    """The bytes of each generation, of all copies."""
    pattern = _pattern(client)
    rows = client.ask("GET", f"/_cat/indices/{client.address.name}-g*", format="json", bytes="b", h="index,store.size")
    results: dict[int, int] = {}
    for row in rows["reply"]:
        if match := pattern.fullmatch(row["index"]):
            results[int(match[1])] = results.get(int(match[1]), 0) + int(row["store.size"] or 0)
    return results


def _pattern(client: Client) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(client.address.name)}-g(\d+)-(?:{PASSAGES}|{DOCUMENTS})")


#: After this long without a sign of life, another process may write.
LEASE_S = 60.0
_HELD, _CONFLICT, MISSING = 400, 409, 404
#: The suffix of this document's index.
WRITER = "writer"
_DOCUMENT = "writer"


class LeaseTaken(IndexProblem):
    """Another process writes the index."""


class Lease:
    """`build` is a number that no build had before. `release` it in any case."""

    def __init__(self, client: Client) -> None:
        """Raises IndexProblem while another process writes."""
        self._client = client
        self._index = alias(client.address, WRITER)
        self._holder = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        self._lost = ""
        self._create()
        known, version = self._read()
        if float(known["until"]) > time.time() and known["holder"]:
            raise LeaseTaken(
                f"another process is writing {client.address} ({known['holder']}), or died less than {LEASE_S:.0f} s ago;"
                " wait until it is done"
            )
        self.build = int(known["builds"]) + 1
        self._version = self._write(version, LEASE_S, self._holder)
        self._ended = threading.Event()
        self._beating = threading.Thread(target=self._beat, name="index-lease", daemon=True)
        self._beating.start()

    def check(self) -> None:
        """Raises IndexProblem when another process may write by now."""
        if self._lost:
            raise IndexProblem(f"{self._client.address}: {self._lost}; build again")

    def renew(self, length_s: float = LEASE_S) -> None:
        """Raises IndexProblem."""
        self._version = self._write(self._version, length_s, self._holder)

    def fall_silent(self) -> None:
        """Renew it no more; it ends by itself."""
        self._ended.set()
        self._beating.join()

    def release(self) -> None:
        self.fall_silent()
        if not self._lost:
            with contextlib.suppress(IndexProblem):
                self._write(self._version, 0.0, "")

    def _create(self) -> None:
        settings = {"number_of_shards": 1, "auto_expand_replicas": "0-1"}
        try:
            self._client.ask("PUT", f"/{self._index}", {"settings": settings, "mappings": {"dynamic": False}})
        except RequestRefused as refused:
            if refused.status != _HELD:
                raise

    def _read(self) -> tuple[dict[str, Any], tuple[int, int] | None]:
        try:
            reply = self._client.ask("GET", f"/{self._index}/_doc/{_DOCUMENT}")
        except RequestRefused as refused:
            if refused.status != MISSING:
                raise
            return {"builds": 0, "until": 0.0, "holder": ""}, None
        return reply["_source"], (reply["_seq_no"], reply["_primary_term"])

    def _write(self, version: tuple[int, int] | None, length_s: float, holder: str) -> tuple[int, int]:
        """Raises IndexProblem when another process has written since."""
        body = {"builds": self.build, "until": time.time() + length_s, "holder": holder}
        only: dict[str, str | float] = (
            {"op_type": "create"} if version is None else {"if_seq_no": version[0], "if_primary_term": version[1]}
        )
        try:
            done = self._client.ask("PUT", f"/{self._index}/_doc/{_DOCUMENT}", body, timeout_s=LEASE_S / 3, **only)
        except RequestRefused as refused:
            if refused.status != _CONFLICT:
                raise
            now, result = self._read()  # a reply that was lost looks like a conflict with oneself
            if result is None or now["holder"] != holder or now["builds"] != self.build:
                raise LeaseTaken(f"another process writes {self._client.address} now; wait until it is done") from None
            return result
        return done["_seq_no"], done["_primary_term"]

    def _beat(self) -> None:
        failing_since = 0.0
        while not self._ended.wait(LEASE_S / 4):
            try:
                self.renew()
                failing_since = 0.0
            except IndexProblem as problem:
                failing_since = failing_since or time.monotonic()
                if isinstance(problem, LeaseTaken) or time.monotonic() - failing_since > LEASE_S / 2:
                    self._lost = str(problem)
                    return
