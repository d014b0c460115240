"""The client library, for programs in Python: it imports aiohttp and msgspec, and nothing else of Groundwire.

    async with Client("http://127.0.0.1:8080") as client:
        run = await client.ask("When must the visa be renewed?")
        print(run.outcome, run.answer)

        async with client.stream(Question(question="And for students?", profile="library")) as stream:
            async for event in stream:
                if isinstance(event, Token):
                    print(event.content, end="")

`BlockingClient` is the same without async.
"""

from groundwire.client.blocking import BlockingClient, BlockingStream
from groundwire.client.client import KEY, LOCAL, Client
from groundwire.client.errors import GroundwireError, Refused, RunFailed, TryLater, Unreachable
from groundwire.client.events import (
    Done,
    Error,
    Passages,
    Queued,
    References,
    Sources,
    Stage,
    Token,
    Unknown,
    Verdict,
    Withheld,
)
from groundwire.client.messages import (
    Cancelled,
    Checked,
    CheckedSentence,
    Constraints,
    Filter,
    Hit,
    Hits,
    Question,
    Run,
    SourceList,
    SourceText,
)
from groundwire.client.stream import Stream
from groundwire.wire import (
    Block,
    CheckedSpan,
    Citation,
    CitedPlace,
    Context,
    ContextMetadata,
    NearPassage,
    Reference,
    Turn,
)

__all__ = [
    "KEY",
    "LOCAL",
    "Block",
    "BlockingClient",
    "BlockingStream",
    "Cancelled",
    "Checked",
    "CheckedSentence",
    "CheckedSpan",
    "Citation",
    "CitedPlace",
    "Client",
    "Constraints",
    "Context",
    "ContextMetadata",
    "Done",
    "Error",
    "Filter",
    "GroundwireError",
    "Hit",
    "Hits",
    "NearPassage",
    "Passages",
    "Question",
    "Queued",
    "Reference",
    "References",
    "Refused",
    "Run",
    "RunFailed",
    "SourceList",
    "SourceText",
    "Sources",
    "Stage",
    "Stream",
    "Token",
    "TryLater",
    "Turn",
    "Unknown",
    "Unreachable",
    "Verdict",
    "Withheld",
]
