"""What `ask` asks of: the bus of a stack on this machine, or a server anywhere that listens for HTTP."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol

import msgspec

from bus.journal.access import Access, Groups, grant
from bus.runs.run_record import RunRecord
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked

if TYPE_CHECKING:
    from groundwire.client import Client


class Asked(Protocol):
    """A question that is asked once. Both raise errors that a command's `run` prints in one line."""

    def lines(self) -> AsyncIterator[bytes]:
        """Ask it; each event, as JSON, up to and with DONE."""
        ...

    async def record(self) -> RunRecord | None:
        """What became of it so far."""
        ...


class OverBus:
    """A question to the stack of these runs, with the rights of `groups`."""

    def __init__(self, runs: Runs, question: QuestionAsked, groups: Groups = None) -> None:
        self.runs = runs
        self.question = question
        self.groups = groups
        self.run_id = runs.run_id_for(question)

    async def lines(self) -> AsyncIterator[bytes]:
        if self.groups is not None:
            await grant(self.runs.journal, self.run_id, Access(groups=self.groups))
        submitted = await self.runs.submit(self.question, self.run_id)
        async for _, line in self.runs.events(submitted.run_id):
            yield line

    async def record(self) -> RunRecord | None:
        return await self.runs.record(self.run_id)


class OverHttp:
    """A question to the server of a client."""

    def __init__(self, client: "Client", question: QuestionAsked) -> None:
        from groundwire.client import Question  # a question over the bus needs no HTTP

        self.client = client
        asked = {k: v for k, v in msgspec.to_builtins(question).items() if k != "type" and v is not None}
        self.stream = client.stream(msgspec.convert(asked, Question))

    async def lines(self) -> AsyncIterator[bytes]:
        async with self.stream as stream:
            async for _, line in stream.lines():
                yield line

    async def record(self) -> RunRecord | None:
        record = msgspec.to_builtins(await self.stream.record())
        return msgspec.convert(record, RunRecord)
