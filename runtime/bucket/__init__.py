"""Snapshots between machines: pushed into a bucket, pulled into a folder, followed by a search process.

What a bucket holds stands in `bus.journal.bucket`, how a snapshot arrives on disk in `index.snapshot.arriving`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bus.wire.errors import Failure
from index.errors import IndexProblem

#: How many snapshots stay in a bucket.
KEEP = 3


@asynccontextmanager
async def first_failure() -> AsyncIterator[None]:
    """Around a group of tasks: raises the Failure or IndexProblem of the first that had one."""
    try:
        yield
    except* (Failure, IndexProblem) as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
