"""An index's bucket: a JetStream object store in which snapshots travel from the machine that builds to those that search.

    current          a link to snapshots/ID, written last, and only over the revision that was read
    snapshots/ID     the manifest of a snapshot, as in its folder
    sha256/HEX       a file, or a part of one, under the digest of its bytes
    parts/HEX        of a file longer than a part: the digests of its parts in order, a line each
    skipped.json     which files could not be read

Each object is one message, under its own digest, so that any client of object stores can read it, a write can be repeated, and
reading takes direct gets alone: the right to read a bucket is the right to nothing else.
"""

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import nats.errors
from nats.js.errors import APIError

from bus.journal.journal import NO_ROOM, SEQUENCE, STORE_FAILED, WRONG_LAST, time_of
from bus.transport.connection import Client, Msg, declare_stream, stream_config
from bus.wire.errors import UNREADABLE, Failure, Unavailable

#: The most bytes of one object: a message with its headers has to fit what a server takes by default, 1 MiB.
PART = 960 * 1024
_HEADERS = 4096
CURRENT = "current"
SNAPSHOTS, FILES, PARTS = "snapshots/", "sha256/", "parts/"
#: The digest of nothing: an empty file needs no object.
EMPTY = hashlib.sha256().hexdigest()
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: How long one message may take, and how long a server may stay away, in seconds.
REQUEST_S, PATIENCE_S = 20.0, 60.0
#: How long an object is asked for again that is not there: a server of a cluster may lag behind the others.
LAG_S = 3.0


class Absent(Failure):
    """The bucket has no such object."""


class Damaged(Failure):
    """An object does not match its digest."""


class Current(NamedTuple):
    """The bucket's current snapshot, and the revision of that entry."""

    snapshot: str
    revision: int


class Stored(NamedTuple):
    """An object as its record describes it. `at`: when it was put, in epoch seconds."""

    digest: str
    revision: int
    at: float


class _Link(msgspec.Struct, frozen=True):
    name: str = ""


class _Options(msgspec.Struct, frozen=True):
    link: _Link | None = None


class _Record(msgspec.Struct, frozen=True):
    nuid: str = ""
    options: _Options | None = None


class Bucket:
    """Reads and writes one bucket. Its errors name the fault in one line."""

    def __init__(self, client: Client, name: str) -> None:
        """Raises Unavailable for a name that no bucket can have."""
        if not _NAME.fullmatch(name):
            raise Unavailable(f"{name!r:.80} is no name of a bucket; take letters, digits, - and _")
        self.name = name
        self._client = client
        self._js = client.jetstream(timeout=REQUEST_S)
        self._stream = f"OBJ_{name}"

    async def declare(self, replicas: int) -> None:
        """Create the bucket, or have it kept by so many servers; 0 leaves that as it is. Raises Unavailable."""
        if self._client.max_payload < PART + _HEADERS:
            raise Unavailable(f"the nats-server takes {self._client.max_payload} bytes; set its max_payload to 1048576")
        wanted: dict[str, Any] = {
            "subjects": [f"$O.{self.name}.C.>", f"$O.{self.name}.M.>"],
            "storage": "file",
            "retention": "limits",
            "discard": "new",
            "allow_direct": True,
            "allow_rollup_hdrs": True,
            **({"num_replicas": replicas} if replicas else {}),
        }
        try:
            if not replicas and (found := await stream_config(self._js, self._stream)) is not None:
                wanted["num_replicas"] = found.get("num_replicas", 1)
            await declare_stream(self._js, self._stream, wanted)
        except APIError as error:
            raise Unavailable(f"the nats-server refused the bucket {self.name}: {error.description}") from None
        except (nats.errors.Error, TimeoutError) as error:
            raise self._away(error) from None

    async def current(self) -> Current | None:
        """None when nothing has been pushed, or there is no such bucket. Raises Damaged, Unavailable."""
        msg = await self._get(self._record(CURRENT))
        if msg is None:
            return None
        record = self._told(msg, CURRENT)
        name = record.options.link.name if record.options is not None and record.options.link is not None else ""
        return Current(name.removeprefix(SNAPSHOTS), _revision(msg))

    async def point_at(self, snapshot: str, revision: int) -> bool:
        """Make a snapshot the current one; false if another one was made that since `revision`. Raises Unavailable."""
        link = {"link": {"bucket": self.name, "name": SNAPSHOTS + snapshot}}
        data = self._described(CURRENT, EMPTY, 0, link)
        return await self._put(self._record(CURRENT), data, over=revision, rollup=True)

    async def put(self, name: str, data: bytes, digest: str) -> None:
        """Store an object of at most PART bytes, or its record again. Raises Unavailable."""
        await self._put(f"$O.{self.name}.C.{digest}", data, over=0)
        await self.name_it(name, digest, len(data))

    async def name_it(self, name: str, digest: str, size: int) -> None:
        """Write the record alone, of bytes that are there. Raises Unavailable."""
        await self._put(self._record(name), self._described(name, digest, size, {}), rollup=True)

    async def read(self, name: str) -> bytes:
        """An object by its name. Raises Absent, Damaged, Unavailable."""
        return await self.read_digest((await self.stored(name)).digest)

    async def read_digest(self, digest: str) -> bytes:
        """The bytes with that digest. Raises Absent, Damaged, Unavailable."""
        data = (await self._present(f"$O.{self.name}.C.{digest}", f"{FILES}{digest}")).data
        if await asyncio.to_thread(sha256, data) != digest:
            raise self._damaged(FILES + digest)
        return data

    async def has(self, name: str) -> bool:
        """Raises Unavailable."""
        return await self._get(self._record(name)) is not None

    async def stored(self, name: str) -> Stored:
        """An object's metadata. Raises Absent, Damaged, Unavailable."""
        msg = await self._present(self._record(name), name)
        return Stored(self._told(msg, name).nuid, _revision(msg), time_of(msg.headers or {}))

    async def parts(self, digest: str) -> list[str]:
        """The digests of the parts of a file longer than a part, in order. Raises Absent, Damaged, Unavailable."""
        listed = (await self.read(PARTS + digest)).split(b"\n")
        found = [line.decode("ascii", "replace") for line in listed if line]
        if not all(map(_DIGEST.fullmatch, found)):
            raise self._damaged(PARTS + digest)
        return found

    def _told(self, msg: Msg, name: str) -> _Record:
        """Raises Damaged."""
        try:
            return msgspec.json.decode(msg.data, type=_Record)
        except UNREADABLE:
            raise self._damaged(name) from None

    def _damaged(self, name: str) -> Damaged:
        return Damaged(
            f"{name} in the bucket {self.name} is damaged; send it again with 'groundwire index push --resend'"
        )

    async def names(self) -> set[str]:
        """The names of all objects. Needs the right to write. Raises Unavailable."""
        prefix = self._record("")
        return {
            base64.urlsafe_b64decode(subject.removeprefix(prefix)).decode()
            for subject in await self._subjects(f"{prefix}*")
        }

    async def digests(self) -> set[str]:
        """The digests of all stored objects, named or not. Needs the right to write. Raises Unavailable."""
        prefix = f"$O.{self.name}.C."
        return {subject.removeprefix(prefix) for subject in await self._subjects(f"{prefix}*")}

    async def forget(self, names: Iterable[str]) -> None:
        """Remove the records of objects; their bytes stay. Raises Unavailable."""
        for name in names:
            await self._purge(self._record(name))

    async def remove(self, digests: Iterable[str]) -> None:
        """Remove bytes. Raises Unavailable."""
        for digest in digests:
            await self._purge(f"$O.{self.name}.C.{digest}")

    def _record(self, name: str) -> str:
        return f"$O.{self.name}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"

    def _described(self, name: str, digest: str, size: int, options: dict[str, Any]) -> bytes:
        shown = base64.urlsafe_b64encode(bytes.fromhex(digest)).decode()
        said = {
            "name": name,
            "bucket": self.name,
            "nuid": digest,
            "size": size,
            "mtime": datetime.now(UTC).isoformat(),
            "chunks": 1 if size else 0,
            "digest": f"SHA-256={shown}",
            "options": {"max_chunk_size": PART, **options},
        }
        return json.dumps(said).encode()

    async def _put(self, subject: str, data: bytes, *, over: int | None = None, rollup: bool = False) -> bool:
        """False when the subject has another last message than `over`. Raises Unavailable."""
        headers = {"Nats-Rollup": "sub"} if rollup else {}
        if over is not None:
            headers["Nats-Expected-Last-Subject-Sequence"] = str(over)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + PATIENCE_S
        while True:
            try:
                await self._js.publish(subject, data, headers=headers or None, timeout=REQUEST_S)
                return True
            except APIError as error:
                if error.err_code == WRONG_LAST:
                    return False
                if error.err_code in NO_ROOM or error.err_code == STORE_FAILED:
                    raise Unavailable(
                        f"the bucket {self.name} has no room ({error.description});"
                        " free disk space where nats-server keeps its streams, or push with a lower --keep"
                    ) from None
                last: Exception = error
            except (nats.errors.Error, TimeoutError) as error:
                last = error
            if loop.time() > give_up:
                raise self._away(last)
            await asyncio.sleep(0.1)

    async def _present(self, subject: str, name: str) -> Msg:
        """Raises Absent, Unavailable."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + LAG_S
        while (msg := await self._get(subject)) is None:
            if loop.time() > give_up:
                raise Absent(f"the bucket {self.name} has no {name}; push the index again")
            await asyncio.sleep(0.2)
        return msg

    async def _get(self, subject: str) -> Msg | None:
        """The last message of a subject, by direct get; None when there is none. Raises Unavailable."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + PATIENCE_S
        while True:
            try:
                msg = await self._client.request(f"$JS.API.DIRECT.GET.{self._stream}.{subject}", timeout=REQUEST_S)
                headers = msg.headers or {}
                if SEQUENCE in headers:
                    return msg
                if headers.get("Status") == "404":
                    return None
                last: Exception = Unavailable(headers.get("Description", "no answer"))
            except nats.errors.NoRespondersError:
                return None  # no stream, or no leader: the caller asks again
            except (nats.errors.Error, TimeoutError) as error:
                last = error
            if loop.time() > give_up:
                raise self._away(last)
            await asyncio.sleep(0.1)

    async def _subjects(self, subject: str) -> list[str]:
        found: list[str] = []
        while True:
            page = await self._api(f"STREAM.INFO.{self._stream}", {"subjects_filter": subject, "offset": len(found)})
            names = page["state"].get("subjects") or {}
            found += names
            if not names or len(found) >= page.get("total", 0):
                return found

    async def _purge(self, subject: str) -> None:
        await self._api(f"STREAM.PURGE.{self._stream}", {"filter": subject})

    async def _api(self, request: str, body: dict[str, object]) -> dict[str, Any]:
        try:
            msg = await self._client.request(f"$JS.API.{request}", json.dumps(body).encode(), timeout=REQUEST_S)
        except (nats.errors.Error, TimeoutError) as error:
            raise self._away(error) from None
        reply: dict[str, Any] = json.loads(msg.data)
        if "error" in reply:
            raise Unavailable(f"the bucket {self.name} cannot be used: {reply['error'].get('description')}")
        return reply

    def _away(self, error: Exception) -> Unavailable:
        why = str(error) or type(error).__name__
        return Unavailable(f"the bucket {self.name} does not answer ({why}); is nats-server running with -js?")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _revision(msg: Msg) -> int:
    return int((msg.headers or {})[SEQUENCE])
