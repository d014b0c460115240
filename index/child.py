"""A child process that answers requests, and both ends of its pipes.

A message is MessagePack behind its length. Work on untrusted or large input runs in a child, so its failure costs only that
work. When the parent dies, standard input closes and the child exits.
"""

import contextlib
import os
import queue
import resource
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import msgspec

#: The exit code of a child that may not have more memory.
OUT_OF_MEMORY = 4
_LENGTH = 8
_PIPE_BYTES = 1024 * 1024
_ROOT = Path(__file__).parent.parent


class Child:
    """The parent's end: `program` calls `requests`. The child is killed by `end`, or at the end of the `with` block."""

    def __init__(
        self,
        program: Sequence[str],
        *,
        pass_fds: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        keep_errors: bool = False,
    ) -> None:
        """`keep_errors`: keep its standard error for `last_words`; without it standard error is discarded."""
        self._errors = tempfile.TemporaryFile() if keep_errors else None  # noqa: SIM115  closed by `end`
        self._process = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors or subprocess.DEVNULL,
            pipesize=_PIPE_BYTES,
            pass_fds=pass_fds,
            cwd=_ROOT,
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._received = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def fileno(self) -> int:
        """Readable when `received` does not block."""
        return self._replies.fileno()

    def send(self, request: object) -> None:
        # A few short requests never fill the pipe. A child that has ended is noticed by its replies.
        with contextlib.suppress(BrokenPipeError):
            self._requests.write(_framed(request))
            self._requests.flush()

    def received(self, wait_s: float | None = None) -> list[bytes] | None:
        """The replies that have arrived, none within `wait_s` seconds as an empty list; None when the child sends no more."""
        if wait_s is not None and not select.select([self._replies], [], [], max(0.0, wait_s))[0]:
            return []
        more = os.read(self._replies.fileno(), _PIPE_BYTES)
        self._received += more
        return list(_messages(self._received)) if more else None

    def reply(self, wait_s: float) -> bytes | None:
        """The only reply of a child. None when the child ended without it. Raises TimeoutError."""
        until = time.monotonic() + wait_s
        while (replies := self.received(until - time.monotonic())) is not None:
            if replies:
                return replies[0]
            if time.monotonic() > until:
                raise TimeoutError
        return None

    def resident_bytes(self) -> int:
        """The memory of the child; 0 when the system does not report it."""
        import psutil  # here, as no child needs it

        with contextlib.suppress(psutil.Error):
            return int(psutil.Process(self._process.pid).memory_info().rss)
        return 0

    def wait(self) -> int:
        """The exit code, below 0 for a signal."""
        return self._process.wait()

    def last_words(self) -> str:
        """The last line of standard error: the most useful line of a traceback. Without it, the exit code."""
        code, lines = self.wait(), []
        if self._errors is not None:
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {code}"

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._replies, self._errors):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def requests[Request](kind: type[Request]) -> tuple[Iterator[Request], Callable[[object], None]]:
    """The child's end: the parent's requests, and a function that sends a reply. Prints of libraries are discarded."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which ends this process
    replies = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    waiting: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(msgspec.msgpack.Decoder(kind), waiting), daemon=True).start()

    def send(reply: object) -> None:
        replies.write(_framed(reply))
        replies.flush()

    return iter(waiting.get, None), send


def limit(*, memory_bytes: int, processor_s: int | None = None) -> None:
    """Limit this process. Where the system does not obey, the parent compares `resident_bytes`."""
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, memory_bytes)]
    for what, most in limits if processor_s is None else [*limits, (resource.RLIMIT_CPU, processor_s)]:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _receive[Request](decoder: msgspec.msgpack.Decoder[Request], waiting: "queue.SimpleQueue[Request | None]") -> None:
    received = bytearray()
    # Not sys.stdin: a thread holding its lock would abort the interpreter's shutdown.
    while more := os.read(0, 1 << 16):
        received += more
        for message in _messages(received):
            waiting.put(decoder.decode(message))
    os._exit(3)


def _framed(message: object) -> bytes:
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(_LENGTH) + data


def _messages(received: bytearray) -> Iterator[bytes]:
    """The whole messages, which are removed."""
    while len(received) >= _LENGTH and len(received) >= (end := _LENGTH + int.from_bytes(received[:_LENGTH])):
        yield bytes(received[_LENGTH:end])
        del received[:end]
