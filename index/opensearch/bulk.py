"""Write many documents: in parts that the cluster can take, slower when it has too much to do, and through the loss of nodes.

Every document has its id, so one that is sent twice is there once.
"""

import time
from typing import Any

import msgspec

from index.errors import IndexProblem
from index.opensearch.client import Client, RetrySearch

type Json = dict[str, Any]

_PART_BYTES, _LEAST_BYTES = 4 * 2**20, 64 * 2**10
_TRY_S = 60.0
#: So long nothing may go through before the cluster counts as away.
PATIENCE_S = 180.0
_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 5.0
_LATER = (429, 500, 502, 503, 504)


class Bulk:
    """`put` and `amend`, then `finish`: then all of it is in the cluster, though no search finds it before a refresh."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._most = _PART_BYTES

    def put(self, index: str, name: str, document: Json) -> None:
        """Raises IndexProblem."""
        self._add({"index": {"_index": index, "_id": name}}, document)

    def amend(self, index: str, name: str, fields: Json) -> None:
        """Change these fields of a document. Raises IndexProblem."""
        self._add({"update": {"_index": index, "_id": name, "retry_on_conflict": 3}}, {"doc": fields})

    def _add(self, action: Json, document: Json) -> None:
        one = b"%s\n%s\n" % (msgspec.json.encode(action), msgspec.json.encode(document))
        self._waiting.append(one)
        self._bytes += len(one)
        if self._bytes >= self._most:
            self.finish()

    def finish(self) -> None:
        """Send what waits. Raises IndexProblem when the cluster takes none of it for PATIENCE_S, or refuses some."""
        left, self._waiting, self._bytes = self._waiting, [], 0
        last, pause = time.monotonic(), _PAUSE_S
        while left:
            part = self._part(left)
            try:
                failed = self._send(part)
                busy, problem = bool(failed), "too busy"
            except RetrySearch as again:
                failed, busy, problem = part, again.busy, str(again)
            left = [*failed, *left[len(part) :]]
            if len(failed) < len(part):
                last, pause = time.monotonic(), _PAUSE_S
            if not failed:
                self._most = min(2 * self._most, _PART_BYTES)
                continue
            if busy:
                self._most = max(self._most // 2, _LEAST_BYTES)
            if time.monotonic() - last > PATIENCE_S:
                raise IndexProblem(f"timeout: {self._client.address} took nothing for {PATIENCE_S:.0f} s ({problem})")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _part(self, left: list[bytes]) -> list[bytes]:
        size = 0
        for at, one in enumerate(left):
            size += len(one)
            if size > self._most and at:
                return left[:at]
        return left

    def _send(self, part: list[bytes]) -> list[bytes]:
        """Those that are to be sent again."""
        reply = self._client.once("POST", "/_bulk", b"".join(part).decode(), _TRY_S)
        again: list[bytes] = []
        for one, item in zip(part, reply["items"], strict=True):
            (done,) = item.values()
            if done["status"] in _LATER:
                again.append(one)
            elif "error" in done:
                raise IndexProblem(f"{self._client.address} refused a passage: {done['error'].get('reason', '')[:300]}")
        return again
