"""A process that reads documents, with formats of its own: each does to the process what a hostile file might.

Run by test_reading.py in place of `python -m index.reading.process`.
"""

import os
import resource
import signal
import sys
from pathlib import Path

from index.model import Document
from index.readers import Format, Source, by_suffix
from index.reading.process import main


def endless(source: Source) -> Document:
    """Records its start in the file that its text names."""
    Path(source.data.decode()).write_text(str(os.getpid()))
    while True:
        pass


def greedy(source: Source) -> Document:
    held = []
    while True:
        held.append(b"x" * 10_000_000)


def large(source: Source) -> Document:
    """Holds much for ever, and is never refused any."""
    held = b"x" * int(source.data)
    while held:
        pass
    raise AssertionError


def leaves(source: Source) -> Document:
    os._exit(0)


def killed(source: Source) -> Document:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def faulty(source: Source) -> Document:
    raise RuntimeError("a bug")


def prints(source: Source) -> Document:
    print("noise", flush=True)
    os.write(1, b"noise")
    return Document(source_id=source.source_id, title="", text="Quiet.")


def long(source: Source) -> Document:
    return Document(source_id=source.source_id, title="", text="word " * int(source.data))


for read in (endless, greedy, large, leaves, killed, faulty, prints, long):
    by_suffix()[f".{read.__name__}"] = Format(read.__name__, (), read, "", "")
if "--unlimited" in sys.argv:  # as where the system does not obey
    resource.setrlimit = lambda what, limits: None
main()
