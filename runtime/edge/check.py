"""/v1/check: each sentence of a text by anyone, compared with the documents."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from aiohttp import web
from msgspec import Meta

from actors.checking.report import CheckedSentence, CheckReport, report_of
from actors.evidence.contexts import given
from bus.journal.access import Groups
from bus.powers.searching import SearchClient, SearchRequest
from bus.wire.errors import Invalid
from bus.wire.messages import Context, Passage
from index.filters import Filter
from prompts.vocabulary import Language
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route
from runtime.edge.state import EDGE, Edge

if TYPE_CHECKING:  # the gate and the readers are imported, in a thread, with the first check
    from actors.checking.claims import Claim
    from runtime.checked.file import CheckedFile

#: The most characters of a text, and sentences of a request.
LONGEST_TEXT, MOST_SENTENCES = 200_000, 1000
#: How many passages are read for a sentence, and how many searches of one request run at a time.
PASSAGES: Final = 8
_SEARCHES: Final = 4


class CheckAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text, plain or Markdown, or its sentences, to be checked. Give one of the two.

    `contexts`: compare with these in place of the index. `language` is the text's, detected for each sentence if omitted.
    """

    text: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""
    sentences: Annotated[tuple[Annotated[str, Meta(max_length=4000)], ...], Meta(max_length=MOST_SENTENCES)] = ()
    contexts: Annotated[tuple[Context, ...], Meta(max_length=50)] | None = None
    filter: Filter | None = None
    language: Language | None = None


@Route(
    "POST",
    "/v1/check",
    {200: Reply("The sentences with their verdicts.", CheckReport)},
    "search",
    problems=(503,),
    body_times=4,
)
async def check(request: web.Request, body: CheckAsked) -> web.Response:
    """Compare each sentence of a text with the documents."""
    return json_response(await checked(request.app[EDGE], request[CALLER].groups, body))


async def checked(edge: Edge, groups: Groups, body: CheckAsked) -> CheckReport:
    """What the documents of those in `groups` say about each sentence. Raises Invalid, Problem, Unavailable."""
    file = await asyncio.to_thread(_file, body)
    if len(file.claims) > MOST_SENTENCES:
        detail = f"the text has {len(file.claims)} sentences; send at most {MOST_SENTENCES} at a time"
        raise Problem(413, "too_large", detail, field="text")
    if body.contexts is not None:
        passages = given(body.contexts)
        return report_of(file.placed([await _judged(edge, claim, passages) for claim in file.claims]))
    searches = _Searches(edge, groups, body)
    first = next((at for at, claim in enumerate(file.claims, 1) if claim.states), 0)  # its snapshot is that of all
    results = [await searches.judged(claim) for claim in file.claims[:first]]
    tasks = [asyncio.create_task(searches.judged(claim)) for claim in file.claims[first:]]
    try:
        results += await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return report_of(file.placed(results), searches.snapshot)


def _file(body: CheckAsked) -> "CheckedFile":
    """Raises Invalid."""
    from actors.checking.claims import claim_of
    from index.readers import Unreadable
    from runtime.checked.file import CheckedFile, checked_file

    if bool(body.text.strip()) == bool(body.sentences):
        raise Invalid("invalid", "text: give either `text` or `sentences`, and not both", "text")
    if body.sentences:
        claims = tuple(map(claim_of, body.sentences))
        return CheckedFile("sentences", "", claims, tuple((claim.start, claim.end) for claim in claims))
    try:
        return checked_file("text.md", body.text.encode("utf-8", "replace"))
    except Unreadable as problem:
        raise Invalid("invalid", f"text: it cannot be read: {problem}", "text") from None


async def _judged(edge: Edge, claim: "Claim", passages: tuple[Passage, ...]) -> CheckedSentence:
    """The gate works in a thread, on one sentence at a time for all requests, so that streams go on meanwhile."""
    async with edge.checking:
        return await asyncio.to_thread(_compared, claim, passages)


def _compared(claim: "Claim", passages: tuple[Passage, ...]) -> CheckedSentence:
    from actors.checking.spans import found_in
    from actors.checking.verdicts import judged

    return judged(claim, found_in(passages))


@dataclass
class _Searches:
    """The searches of one check, a few at a time, all in one snapshot."""

    edge: Edge
    groups: Groups
    body: CheckAsked
    snapshot: str = ""
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_SEARCHES))

    async def judged(self, claim: "Claim") -> CheckedSentence:
        async with self.free:
            return await _judged(self.edge, claim, await self._found(claim) if claim.states else ())

    async def _found(self, claim: "Claim") -> tuple[Passage, ...]:
        request = SearchRequest(
            query=claim.query,
            language=self.body.language or "",
            k=PASSAGES,
            filter=self.body.filter,
            groups=self.groups,
            snapshot=self.snapshot,
            as_list=True,
        )
        reply, _ = await SearchClient(self.edge.runs.client, time.time() + self.edge.timeouts.search_s)(request)
        self.snapshot = reply.snapshot
        return reply.passages
