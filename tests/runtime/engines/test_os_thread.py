"""A joined thread is also gone for the operating system; otherwise the process may abort at exit."""

import sys
from pathlib import Path
from threading import Event

import pytest

from runtime.engines.os_thread import MlxThread


@pytest.mark.skipif(sys.platform != "linux", reason="threads are told from files there")
def test_joined_thread_is_gone_for_the_system() -> None:
    left = []
    for _ in range(300):
        thread = MlxThread(target=int)
        thread.start()
        thread.join()
        if Path(f"/proc/self/task/{thread.native_id}").exists():
            left.append(thread)
    assert not left


def test_join_with_a_time_limit_returns() -> None:
    end = Event()
    thread = MlxThread(target=end.wait)
    thread.start()
    thread.join(0.01)
    assert thread.is_alive()
    end.set()
    thread.join()
    assert not thread.is_alive()
