"""What several test processes of a machine must not do at the same time, like installing what all of them need."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

#: What the tests install, in the user's cache.
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "groundwire-tests"
#: For users of apt: it refuses a second process, and its unpacked program is visible before it works.
APT = "apt"


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Wait until no other process is in the block of this name."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
