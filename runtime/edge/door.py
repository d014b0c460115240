"""The door: the caller of each request, and the caller's rights. Every request passes it before its handler.

On loopback the door is open: all requests are allowed without a key, and a token of another form than our keys is ignored, since
OpenAI clients must send one. On any other address, or with `access.required`, every route with a scope needs a key. The address
that the edge listens on decides this, not the request.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from aiohttp import hdrs, web
from anyio import to_thread

from bus.journal.access import Access, Groups, covers, groups_named
from bus.journal.records import TRACEPARENT
from bus.transport.envelope import parent_in
from bus.transport.health import Watch
from runtime.edge import tickets
from runtime.edge.limits import Limits
from runtime.edge.origins import Origins
from runtime.edge.problems import RETRY_AFTER_S, Problem
from runtime.edge.routes import Route
from runtime.keys import PREFIX, SCOPES, Key, KeyFile, Keys, KeysProblem, Scope, rate_of
from runtime.settings import AccessSettings

log = logging.getLogger("groundwire.edge")

#: How often the file of the keys is looked at, in seconds: a revoked key is refused after this at the latest.
LOOK_S = 0.9
#: The subprotocol of a WebSocket, and the prefix of the subprotocol that carries the key of a browser's page.
SUBPROTOCOL = "groundwire"
KEY_SUBPROTOCOL = "groundwire.key."

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="groundwire"'}


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request. `name`: of the key, empty at the open door. `groups`: of the documents that the caller may find.

    `traceparent`: the header of that name; empty without a valid one.
    """

    name: str
    key_id: str
    scopes: frozenset[Scope]
    groups: Groups
    rate: tuple[int, int] | None = None
    concurrency: int = 0
    traceparent: str = ""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    @property
    def access(self) -> Access | None:
        """The access record of the caller's runs; none at the open door."""
        return Access(key=self.name, groups=self.groups) if self.name else None

    def may_see(self, access: Access | None) -> bool:
        """Whether the caller may see a run with this access. No caller may see a run if its access names no key.

        A key that has lost groups does not see its earlier runs that may have used their documents.
        """
        if access is None:
            return not self.name or "admin" in self.scopes
        if self.name and "admin" in self.scopes:
            return bool(access.key)
        return bool(access.key) and access.key == self.name and covers(self.groups, access.groups)


CALLER = web.RequestKey("caller", Caller)


class Door:
    """The keys in force, and what each has open. `start` reads them, and follows the file until `stop`."""

    def __init__(
        self,
        file: KeyFile | None = None,
        access: AccessSettings | None = None,
        *,
        required: bool = False,
        origins: Origins | None = None,
    ) -> None:
        """`required`: no route is open without a key."""
        access = access or AccessSettings()
        self.required = required
        self.origins = origins or Origins()
        self.limits = Limits(time.monotonic)
        self._file = file
        self._keys = Keys(secret=secrets.token_hex(32))
        self._problem = ""
        self._rate = rate_of(access.rate) if access.rate else None
        self._concurrency = access.concurrency
        self._open = Caller("", "", frozenset(SCOPES), groups_named(access.integrations))
        self._callers: dict[str, Caller] = {}
        self._transports: defaultdict[str, dict[asyncio.Transport, int]] = defaultdict(dict)
        self.watch = Watch()
        self._seen: tuple[int, ...] = ()

    async def start(self) -> None:
        """Read the keys and begin to follow them. Raises KeysProblem."""
        if self._file is not None:
            self._seen = await to_thread.run_sync(self._file.version)
            self._take(await to_thread.run_sync(self._file.read))
            self.watch.keep("the keys", partial(self._follow, self._file))

    @property
    def secret(self) -> bytes:
        return bytes.fromhex(self._keys.secret)

    async def stop(self) -> None:
        await self.watch.stop()

    # ------------------------------------------------------------ the caller

    def caller_of(self, request: web.Request) -> Caller:
        """Raises Problem 401, or 503 while the keys cannot be read."""
        return self._caller(_presented(request))

    def renewed(self, caller: Caller) -> Caller:
        """The same caller with the rights of now. Raises Problem 401 when the key was revoked or has expired."""
        if not caller.name:
            return caller
        now = self._callers.get(caller.key_id)
        self._check_readable()
        if now is None or self._expired(caller.key_id):
            raise _refused("this key was revoked or has expired; ask for another")
        return replace(now, traceparent=caller.traceparent)

    def _caller(self, token: str | None) -> Caller:
        if token is None or not (self.required or token.startswith(PREFIX)):
            if self.required:
                raise _refused("a key is needed; send it as `Authorization: Bearer gw_…`", "no_key")
            return self._open
        self._check_readable()
        key = self._keys.find(token, time.time())
        if key is None:
            raise _refused("this key is not valid: it is wrong, was revoked or has expired")
        return self._callers[key.id]

    def _by_ticket(self, request: web.Request, route: Route) -> Caller | None:
        """The caller of the request's ticket for this source; a key takes precedence. Raises Problem 401 for an invalid ticket."""
        written = request.query.get(tickets.PARAMETER)
        if route.for_ticket is None or written is None or hdrs.AUTHORIZATION in request.headers:
            return None
        self._check_readable()
        key_id = tickets.key_of(self.secret, written, route.for_ticket(request), time.time())
        caller = self._callers.get(key_id) if key_id is not None else None
        if caller is None or self._expired(caller.key_id):
            raise _refused("this address has expired; open it again from where it came")
        return caller

    def _check_readable(self) -> None:
        if self._problem:
            again = {"Retry-After": str(RETRY_AFTER_S)}
            raise Problem(503, "keys_unreadable", "the keys cannot be read now; try again later", again)

    def _expired(self, key_id: str) -> bool:
        return any(key.id == key_id and key.expires_at and key.expires_at <= time.time() for key in self._keys.keys)

    # ------------------------------------------------------------ its rights

    @contextlib.contextmanager
    def admitted(self, request: web.Request, route: Route) -> Iterator[Caller]:
        """Let the request in and count it while it is under way. Raises Problem 401, 403, 429, 503."""
        if route.scope == "none":
            yield self._open
            return
        caller = self._by_ticket(request, route) or self.caller_of(request)
        if parent_in(header := request.headers.get(TRACEPARENT)) is not None:
            caller = replace(caller, traceparent=header or "")
        if not caller.name:
            yield caller
            return
        if route.scope != "any":
            check_scope(caller, route.scope)
        self.limits.spend(caller.key_id, caller.rate)
        counted = contextlib.nullcontext() if route.receives else self.hold(caller)
        with counted, self._cut_with(caller, request.transport):
            yield caller

    def hold(self, caller: Caller) -> contextlib.AbstractContextManager[None]:
        """Count a request of this caller while it is under way. Raises Problem 429."""
        return self.limits.hold(caller.key_id, caller.concurrency) if caller.name else contextlib.nullcontext()

    @contextlib.contextmanager
    def _cut_with(self, caller: Caller, transport: asyncio.Transport | None) -> Iterator[None]:
        """The connection is cut when the caller's key goes."""
        if transport is None:
            yield
            return
        mine = self._transports[caller.key_id]
        mine[transport] = mine.get(transport, 0) + 1
        try:
            yield
        finally:
            mine[transport] -= 1
            if not mine[transport]:
                del mine[transport]

    # ------------------------------------------------------------ the file

    async def _follow(self, file: KeyFile) -> None:
        """Read the file whenever it differs; as long as it cannot be read no key is accepted, since some may be revoked."""
        while True:
            await asyncio.sleep(LOOK_S)
            version = await to_thread.run_sync(file.version)
            if version == self._seen and not self._problem:
                self._cut_expired()
                continue
            try:
                none = Keys(secret=self._keys.secret)  # the file is gone, and with it every key
                keys = await to_thread.run_sync(file.read) if version else none
            except KeysProblem as problem:
                if str(problem) != self._problem:
                    log.error("%s; every key is refused until then", problem)
                self._problem = str(problem)
                continue
            self._problem, self._seen = "", version
            self._take(keys)

    def _take(self, keys: Keys) -> None:
        callers = {key.id: self._caller_with(key) for key in keys.keys}
        self._keys, self._callers = keys, callers
        self.limits.forget(set(self._callers))
        for key_id in self._transports.keys() - self._callers.keys():
            self._cut(key_id)
        self._cut_expired()

    def _caller_with(self, key: Key) -> Caller:
        rate = rate_of(key.rate) if key.rate else self._rate
        concurrency = key.concurrency or self._concurrency
        return Caller(key.name, key.id, frozenset(key.scopes), key.groups, rate, concurrency)

    def _cut_expired(self) -> None:
        for key_id in tuple(self._transports):
            if self._expired(key_id):
                self._cut(key_id)

    def _cut(self, key_id: str) -> None:
        for transport in self._transports.pop(key_id, {}):
            transport.abort()


def check_scope(caller: Caller, scope: Scope) -> None:
    """Raises Problem 403."""
    if not caller.may(scope):
        raise Problem(403, "no_scope", f"this key may not do that; it needs the scope {scope}")


def _refused(detail: str, code: str = "bad_key") -> Problem:
    return Problem(401, code, detail, _CHALLENGE)


def _presented(request: web.Request) -> str | None:
    """The key of a request, if any. Raises Problem 401 for several."""
    headers = request.headers.getall(hdrs.AUTHORIZATION, ())
    if len(headers) > 1:
        raise _refused(f"the request has {len(headers)} Authorization headers; send one")
    if headers:
        scheme, _, token = headers[0].partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""
    for offered in request.headers.get(hdrs.SEC_WEBSOCKET_PROTOCOL, "").split(","):
        if offered.strip().startswith(KEY_SUBPROTOCOL):
            return offered.strip().removeprefix(KEY_SUBPROTOCOL)
    return None
