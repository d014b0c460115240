"""The writer of an index: one process at a time, known by a document that it keeps fresh."""

import contextlib
import os
import socket
import threading
import time
from typing import Any

from index.errors import IndexProblem
from index.opensearch.client import CONFLICT, Client, RequestRefused
from index.opensearch.layout import alias

#: After this long without a sign of life, another process may write.
LEASE_S = 60.0
_HELD = 400
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
        reply = self._client.found(f"/{self._index}/_doc/{_DOCUMENT}")
        if reply is None:
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
            if refused.status != CONFLICT:
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
