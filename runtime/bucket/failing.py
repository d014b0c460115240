"""What a group of tasks failed of, as one failure."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bus.wire.errors import Failure
from index.errors import IndexProblem


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
