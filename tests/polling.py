"""Wait for something that another task or process will do: polls with a deadline instead of sleeping for a fixed time."""

import asyncio
import contextlib
import inspect
import time
from collections.abc import Awaitable, Callable

from bus.runs.run_record import RunRecord
from bus.runs.runs import Runs


async def until[T](check: Callable[[], T | Awaitable[T]], *, within_s: float = 60.0, what: str = "") -> T:
    """The first truthy value of `check`. Raises TimeoutError that names the condition."""
    give_up = time.monotonic() + within_s
    while True:
        found = check()
        value: T = await found if inspect.isawaitable(found) else found
        if value:
            return value
        if time.monotonic() > give_up:
            raise TimeoutError(f"waited {within_s} s in vain for {what or inspect.getsource(check).strip()}")
        await asyncio.sleep(0.01)


async def ended(runs: Runs, run_id: str, *, within_s: float = 60.0) -> RunRecord:
    """The record of a run, once it has ended."""

    async def over() -> RunRecord | None:
        record = await runs.record(run_id)
        return record if record is not None and record.status == "finished" else None

    return await until(over, within_s=within_s, what=f"the end of {run_id}")


async def cancel(task: "asyncio.Task[object]") -> None:
    """End a task that follows something, and wait for it."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
