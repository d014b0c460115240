"""Requests to an OpenSearch cluster: the whole reply, or an IndexProblem with the reason. opensearch-py's only home.

A search that lost a shard, a node that went away and a node that is too busy are asked again until the time is over; an answer
over part of the shards never leaves here.
"""

import contextlib
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from index.errors import IndexProblem

log = logging.getLogger("groundwire.index")

DEFAULT_NAME = "groundwire"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_NODE = re.compile(r"https?://(?:[^/?#@:\[\]]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?")
#: The longest wait for a search; a search process's caller waits longer, to learn that the cluster is away.
TIMEOUT_S = 5.0
_PAUSE_S = 0.1
_REFRESH_S = 180.0
#: To each node.
_CONNECTIONS = 8
#: So long a node that did not answer is asked last, up to four times as long when that happens again.
_AWAY_S = 2.0
_BUSY = (429, 502, 503, 504)
MISSING, CONFLICT = 404, 409

_NO_PARAMS: Mapping[str, str | float] = MappingProxyType({})

type Json = dict[str, Any]


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where an index is: the nodes to ask, and its name among the indexes of the cluster.

    `ca` is a file of certificates, empty for those that the system trusts; `timeout_s` is the longest wait for a search.
    """

    nodes: tuple[str, ...]
    name: str = DEFAULT_NAME
    user: str = ""
    password: str = ""
    ca: str = ""
    timeout_s: float = TIMEOUT_S

    def __str__(self) -> str:
        return f"{','.join(self.nodes)}/{self.name}"

    @property
    def overheard(self) -> str:
        """A warning where the password goes over a network in clear; empty where it does not."""
        for node in self.nodes if self.user and self.password else ():
            if node.startswith("http://") and not _is_here(urlsplit(node).hostname or ""):
                return f"index.password goes to {node} unencrypted, and whoever is on the way reads it; use https://"
        return ""


def located(url: str, *, user: str = "", password: str = "", ca: str = "", timeout_s: float | None = None) -> Address:
    """`https://search.example.org:9200/handbook`; more nodes before it with commas, without a path it is DEFAULT_NAME.

    Raises IndexProblem.
    """
    if "@" in url:  # before any part of it is logged: a password may hold what ends one
        raise IndexProblem("user and password do not belong into index.url; set index.user and index.password")
    *others, last = (part.strip() for part in url.split(","))
    name = last.partition("://")[2].partition("/")[2].strip("/")
    nodes = tuple(part.rstrip("/") for part in (*others, last.removesuffix("/").removesuffix(f"/{name}")))
    for node in nodes:
        match = _NODE.fullmatch(node)
        if not match or not 0 < int(match[1] or 1) < 65_536:
            raise IndexProblem(f"{node}: no address of OpenSearch; write it like https://search.example.org:9200")
    if name and not _NAME.fullmatch(name):
        raise IndexProblem(f"{name}: no name of an index; it is of small letters, digits, '-' and '_'")
    if ca and not Path(ca).is_file():
        raise IndexProblem(f"{ca} is no file; index.ca names a file with the certificates of the cluster's signer")
    return Address(
        nodes=nodes,
        name=name or DEFAULT_NAME,
        user=user,
        password=password,
        ca=ca,
        timeout_s=TIMEOUT_S if timeout_s is None else timeout_s,
    )


def _is_here(host: str) -> bool:
    """Whether requests to the host stay on this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class RequestRefused(IndexProblem):
    """The cluster understood what was asked and does not do it; `status` is HTTP's."""

    def __init__(self, line: str, status: int) -> None:
        super().__init__(line)
        self.status = status


class Client:
    """Safe for any number of threads."""

    def __init__(self, address: Address) -> None:
        """Raises IndexProblem when opensearch-py is not installed."""
        try:
            import opensearchpy
        except ImportError:
            raise IndexProblem(
                "an index over OpenSearch needs opensearch-py; install Groundwire as groundwire[opensearch]"
            ) from None
        logging.getLogger("opensearch").setLevel(logging.CRITICAL)  # the caller reports a failure
        if address.overheard:
            log.warning("%s", address.overheard)
        self.address = address
        #: The time limit of a request without its own.
        self.patience_s = address.timeout_s
        self._errors = opensearchpy.exceptions
        security: Json = {"ca_certs": address.ca} if address.ca else {}
        if address.user:
            security["http_auth"] = (address.user, address.password)
        self._transport = opensearchpy.OpenSearch(
            hosts=list(address.nodes),
            pool_maxsize=_CONNECTIONS,
            timeout=address.timeout_s,
            max_retries=0,  # `_tried` asks again
            retry_on_timeout=True,  # so that a node that does not answer is asked last
            dead_timeout=_AWAY_S,
            timeout_cutoff=2,  # or it would be left out for half an hour in the end
            **security,
        ).transport

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        timeout_s: float | None = None,
        **params: str | float,
    ) -> Json:
        """The reply, asked again while nodes are away or busy. Raises IndexProblem, RequestRefused for another status than 2xx."""
        sent = body if body is None or isinstance(body, str) else msgspec.json.encode(body).decode()
        return self._tried(lambda left_s: self.once(method, path, sent, left_s, params), timeout_s)

    def found(self, path: str, **params: str | float) -> Json | None:
        """What is at a path; None where nothing is. Raises IndexProblem."""
        try:
            return self.ask("GET", path, None, timeout_s=None, **params)
        except RequestRefused as refused:
            if refused.status != MISSING:
                raise
            return None

    def find(self, index: str, body: object) -> list[Json]:
        return self.find_all([(index, body, False)])[0]

    def find_all(self, searches: Sequence[tuple[str, object, bool]]) -> list[list[Json]]:
        """The hits of several searches, (index, body, exact rarity), in one request; all of them over all shards.

        `exact rarity`: how rare a term is, over all shards and not in each.
        """
        lines: list[bytes] = []
        for index, body, exact in searches:
            head = {"index": index, "search_type": "dfs_query_then_fetch" if exact else "query_then_fetch"}
            lines += [msgspec.json.encode(head), b"\n", msgspec.json.encode(body), b"\n"]
        sent = b"".join(lines).decode()

        def once(left_s: float) -> list[list[Json]]:
            # Half of the time left, so that another node is asked when this one is silent.
            replies = self.once("POST", "/_msearch", sent, left_s / 2)["responses"]
            return [self._whole(reply)["hits"]["hits"] for reply in replies]

        return self._tried(once)

    def refresh(self, index: str) -> None:
        """Let searches find what was written, on every copy that is in service."""
        path = f"/{index}/_refresh"
        self._tried(lambda left_s: self._whole(self.once("POST", path, None, left_s), every=False), _REFRESH_S)

    def count(self, index: str, body: object) -> int:
        """How many documents the query finds."""
        sent, path = msgspec.json.encode(body).decode(), f"/{index}/_count"
        return int(self._tried(lambda left_s: self._whole(self.once("POST", path, sent, left_s)))["count"])

    def _whole(self, reply: Json, *, every: bool = True) -> Json:
        """Raises RetrySearch for a search that lost a shard, RequestRefused for an invalid one. `every`: none may be missing."""
        status = reply.get("status", 200)
        if status in (400, 404):
            raise RequestRefused(f"{self.address}: {_reason(reply)}", status)
        shards = reply.get("_shards", {"failed": 1})
        # A shard without any copy left counts neither as failed nor as successful.
        whole = not shards["failed"] and (not every or shards["successful"] == shards["total"])
        if status != 200 or not whole or reply.get("timed_out"):
            raise RetrySearch(_reason(reply))
        return reply

    def once(
        self, method: str, path: str, body: str | None, timeout_s: float, params: Mapping[str, str | float] = _NO_PARAMS
    ) -> Json:
        """Ask once. Raises IndexProblem, RequestRefused, and RetrySearch where another try may go well."""
        errors = self._errors
        try:
            reply = self._transport.perform_request(method, path, params=dict(params), body=body, timeout=timeout_s)
        except errors.SSLError as error:
            raise IndexProblem(
                f"{self.address}: the certificate is not trusted ({error.error}); name its signer with index.ca"
            ) from error
        except errors.ConnectionError as error:
            raise RetrySearch(str(error.error).split(":", 1)[0]) from error
        except errors.TransportError as error:
            status = int(error.status_code)
            if status in _BUSY:
                raise RetrySearch(f"status {status}", busy=status == 429) from error
            if status in (401, 403):
                raise IndexProblem(
                    f"{self.address} does not admit user '{self.address.user}'; set index.user and index.password"
                ) from error
            raise RequestRefused(f"{self.address}: {_reason(error.info)}", status) from error
        except errors.SerializationError as error:
            raise IndexProblem(f"{self.address} does not answer as OpenSearch does; correct index.url") from error
        return reply if isinstance(reply, dict) else {"reply": reply}

    def _tried[T](self, once: Callable[[float], T], timeout_s: float | None = None) -> T:
        """What `once` returns, given the seconds left; asked again after RetrySearch. Raises IndexProblem when time is over."""
        limit = self.patience_s if timeout_s is None else timeout_s
        end = time.monotonic() + limit
        while True:
            try:
                return once(max(end - time.monotonic(), 0.05))
            except RetrySearch as problem:
                if time.monotonic() + _PAUSE_S > end:
                    raise IndexProblem(f"timeout: {self.address} did not answer in {limit:g} s ({problem})") from None
            time.sleep(_PAUSE_S)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._transport.close()


class RetrySearch(Exception):
    """Not now: a node is away, or it has too much to do (`busy`)."""

    def __init__(self, line: str, *, busy: bool = False) -> None:
        super().__init__(line)
        self.busy = busy


def _reason(reply: object) -> str:
    """The failure that a reply reports, in some words."""
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    if isinstance(error, dict):
        causes = error.get("root_cause") or [error]
        error = causes[0].get("reason", "") or error.get("type", "") or "a shard did not answer"
    return str(error)[:300]
