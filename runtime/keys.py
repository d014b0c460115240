"""The keys of the HTTP side: a file of the state home that the command line writes and every edge reads anew while it runs.

A key is 256 random bits, so nobody can guess one and a slow hash would protect nothing that it does not: a keyed BLAKE2b under
the installation's secret costs a microsecond a request. Only this hash is kept; the key itself is shown once. The secret also
makes the ids of runs that have an idempotency key, so that nobody can compute them from it.
"""

import contextlib
import fcntl
import hashlib
import hmac
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec

from bus.wire.subjects import BadId, check_id
from index.durable import replace_file

#: What a key may do; `admin` may do everything, with the runs of all.
Scope = Literal["ask", "search", "read", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
#: What every key begins with, so that scanners of repositories and logs find a lost one.
PREFIX = "gw_"
EVERY_GROUP = "*"
#: Who asks the questions of the installation itself: no key may have this name, and nobody may read its runs.
INTERNAL = "canary"

#: The end of the calendar: later times are no dates.
_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_TOKEN = re.compile(rf"{PREFIX}([0-9a-f]{{8}})_([A-Za-z0-9_-]{{43}})")


class KeysProblem(Exception):
    """The keys cannot be read or changed; the message names the file and the remedy in one line."""


class Key(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A key as it is kept: `id` is its public part, `digest` the keyed hash of the whole. Times are epoch seconds.

    `groups`: those whose documents it may see beside the documents without groups; None: every document. `rate` (`5/s`) and
    `concurrency` bound its requests; empty and 0: by the settings.
    """

    name: str
    id: str
    digest: str
    scopes: tuple[Scope, ...]
    groups: tuple[str, ...] | None = None
    created_at: int = 0
    expires_at: int | None = None
    rate: str = ""
    concurrency: int = 0


class Keys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file. `secret` is the installation's, in hex."""

    secret: str
    keys: tuple[Key, ...] = ()

    def find(self, presented: str, now: float) -> Key | None:
        """The key that this is, if it is one and has not expired.

        The public part finds the entry; the rest is compared in constant time, also where there is no such entry.
        """
        parts = _TOKEN.fullmatch(presented)
        if parts is None:
            return None
        found = next((key for key in self.keys if key.id == parts[1]), None)
        digest = self.digest(presented)
        same = hmac.compare_digest(digest, found.digest if found else "0" * len(digest))
        if found is None or not same or (found.expires_at is not None and found.expires_at <= now):
            return None
        return found

    def digest(self, token: str) -> str:
        return hashlib.blake2b(
            token.encode(), key=bytes.fromhex(self.secret), digest_size=32, person=b"groundwire-key"
        ).hexdigest()


class KeyFile:
    """Where the keys are kept; every change is written whole, under a lock, to be read by nobody but its owner."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Keys:
        """The keys; made with a new secret and none when there is no file yet. Raises KeysProblem."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):  # whoever reads a pipe may wait for ever
                raise ValueError("it is no file")
            return decode_keys(self.path.read_bytes())
        except FileNotFoundError:
            return self._change(lambda keys: keys)
        except (OSError, msgspec.DecodeError, ValueError) as error:
            raise self._problem(error) from None

    def version(self) -> tuple[int, ...]:
        """Differs whenever the file does; empty when there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return ()
        return (found.st_ino, found.st_mtime_ns, found.st_size)

    def add(
        self,
        name: str,
        scopes: tuple[Scope, ...],
        *,
        now: float,
        groups: tuple[str, ...] | None = None,
        expires_at: float | None = None,
        rate: str = "",
        concurrency: int = 0,
    ) -> str:
        """Make a key and return it; it is kept nowhere. Raises KeysProblem, BadId."""
        if check_id(name) == INTERNAL:
            raise KeysProblem(f"{name!r} asks the installation's own questions; choose another name")
        made_id = secrets.token_hex(4)
        token = f"{PREFIX}{made_id}_{secrets.token_urlsafe(32)}"

        def change(keys: Keys) -> Keys:
            if any(key.name == name for key in keys.keys):
                raise KeysProblem(f"there is a key {name!r} already; choose another name, or revoke it first")
            key = Key(
                name=name,
                id=made_id,
                digest=keys.digest(token),
                scopes=scopes,
                groups=groups,
                created_at=int(now),
                expires_at=None if expires_at is None else int(expires_at),
                rate=rate,
                concurrency=concurrency,
            )
            return msgspec.structs.replace(keys, keys=(*keys.keys, key))

        self._change(change)
        return token

    def revoke(self, name: str) -> None:
        """Raises KeysProblem when there is no key of this name."""

        def change(keys: Keys) -> Keys:
            kept = tuple(key for key in keys.keys if key.name != name)
            if len(kept) == len(keys.keys):
                raise KeysProblem(f"there is no key {name[:80]!r}; `groundwire keys list` shows them")
            return msgspec.structs.replace(keys, keys=kept)

        self._change(change)

    def _change(self, change: Callable[[Keys], Keys]) -> Keys:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                there = self.path.read_bytes() if self.path.exists() else None
                before = Keys(secret=secrets.token_hex(32)) if there is None else decode_keys(there)
                after = change(before)
                if after != before or there is None:
                    replace_file(self.path, msgspec.json.format(msgspec.json.encode(after)) + b"\n", mode=0o600)
                return after
        except (OSError, msgspec.DecodeError, ValueError) as error:
            raise self._problem(error) from None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time; the lock is a file beside, since the file itself is replaced."""
        lock = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _problem(self, error: Exception) -> KeysProblem:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return KeysProblem(
            f"the keys in {self.path} cannot be used ({why}); repair the file, or name another as access.keys"
        )


def decode_keys(data: bytes) -> Keys:
    """The content of a file of keys. Raises DecodeError, ValueError."""
    keys = msgspec.json.decode(data, type=Keys)
    if len(bytes.fromhex(keys.secret)) != 32:
        raise ValueError("its secret is not 32 bytes in hex")
    for what, values in (("id", [key.id for key in keys.keys]), ("name", [key.name for key in keys.keys])):
        if len({*values}) != len(values):
            raise ValueError(f"two keys have the same {what}")
    for key in keys.keys:
        if not re.fullmatch(r"[0-9a-f]{64}", key.digest):
            raise ValueError(f"the digest of {key.name[:80]!r} is not 32 bytes in hex")
        if key.rate:
            rate_of(key.rate)
        if key.concurrency < 0 or (key.expires_at or 0) > _LATEST:
            raise ValueError(f"the limits of {key.name[:80]!r} are none")
    return keys


def duration_s(text: str) -> int:
    """`90d`, `12h`, `30m` or `45s` in seconds. Raises ValueError."""
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text.strip())
    if found is None or not int(found[1]):
        raise ValueError(f"{text[:40]!r} is no duration; write it like 90d, 12h or 30m")
    return int(found[1]) * _UNITS_S[found[2]]


def expiry(text: str, now: float) -> float:
    """When a key expires: after a duration like `90d`, or at the end of a day like `2026-12-31`, UTC. Raises ValueError."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()):
        at = datetime.fromisoformat(text.strip()).replace(tzinfo=UTC).timestamp() + _UNITS_S["d"]
        if at <= now:
            raise ValueError(f"{text.strip()} is over; name a day to come")
        if at > _LATEST:
            raise ValueError(f"{text.strip()} is too far; name an earlier day, or leave it out for never")
        return at
    return now + duration_s(text)


def rate_of(text: str) -> tuple[int, int]:
    """How many requests in how many seconds: `5/s`, `100/m` or `1000/h`. Raises ValueError."""
    found = re.fullmatch(r"([0-9]{1,6})/([smhd])", text.strip())
    if found is None or not int(found[1]):
        raise ValueError(f"{text[:40]!r} is no rate; write it like 5/s, 100/m or 1000/h")
    return int(found[1]), _UNITS_S[found[2]]


def check_group(name: str) -> str:
    """The name as names are compared. Raises BadId for one that could not be named in a setting."""
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    if not plain or "," in plain or not plain.isprintable():
        raise BadId(f"{name[:80]!r} is no name of a group; use letters, without commas")
    return plain
