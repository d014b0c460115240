"""/v1/check: each sentence of a text by anyone, compared with the documents."""

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from aiohttp import web
from msgspec import Meta

from actors.checking.claims import Claim, claim_of, claims_of, placed
from actors.checking.report import CheckReport, report_of, sentence_of
from actors.checking.spans import Found
from actors.checking.verdicts import Checked, judged
from actors.evidence.contexts import given
from bus.journal.access import Groups
from bus.powers.searching import SearchClient, SearchRequest
from bus.wire.errors import Invalid
from bus.wire.messages import Context, Passage
from index.filters import Filter
from index.readers import Source, Unreadable, read
from prompts.vocabulary import Language
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.responses import json_response
from runtime.edge.routes import Reply, Route
from runtime.edge.state import EDGE, Edge

#: The most characters of a text, and sentences of a request.
LONGEST_TEXT, MOST_SENTENCES = 200_000, 1000
#: How many passages are read for a sentence, and how many searches of one request run at a time.
PASSAGES: Final = 8
_SEARCHES: Final = 4


class SentenceAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sentence by itself. `lead`: what it may refer to: the sentence before it, or its heading."""

    text: Annotated[str, Meta(min_length=1, max_length=4000)]
    lead: Annotated[str, Meta(max_length=4000)] = ""


class CheckAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text, plain or Markdown, or its sentences, to be checked. Give one of the two.

    `contexts`: compare with these in place of the index. `language` is the text's, detected for each sentence if omitted.
    """

    text: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""
    sentences: Annotated[tuple[SentenceAsked, ...], Meta(max_length=MOST_SENTENCES)] = ()
    contexts: Annotated[tuple[Context, ...], Meta(max_length=50)] | None = None
    filter: Filter | None = None
    language: Language | None = None


@Route("POST", "/v1/check", {200: Reply("The sentences with their verdicts.", CheckReport)}, "search", problems=(503,))
async def check(request: web.Request, body: CheckAsked) -> web.Response:
    """Compare each sentence of a text with the documents."""
    return json_response(await checked(request.app[EDGE], request[CALLER].groups, body))


async def checked(edge: Edge, groups: Groups, body: CheckAsked) -> CheckReport:
    """What the documents of those in `groups` say about each sentence. Raises Invalid, Problem, Unavailable."""
    if bool(body.text.strip()) == bool(body.sentences):
        raise Invalid("invalid", "give either `text` or `sentences`, and not both", "text")
    if body.sentences:
        claims: Sequence[Claim] = [claim_of(each.text, each.lead) for each in body.sentences]
        written = [(each.text, (0, len(each.text))) for each in body.sentences]
    else:
        claims, places = await asyncio.to_thread(_read, body.text)
        written = [(body.text, place) for place in places]
    if len(claims) > MOST_SENTENCES:
        detail = f"the text has {len(claims)} sentences; send at most {MOST_SENTENCES} at a time"
        raise Problem(413, "too_large", detail, field="text")
    finding = _Finding(edge, groups, body)
    results = await finding.judge(claims)
    sentences = (sentence_of(one, place, text) for one, (text, place) in zip(results, written, strict=True))
    return report_of(sentences, finding.snapshot)


def _read(text: str) -> tuple[tuple[Claim, ...], list[tuple[int, int]]]:
    """The sentences of a plain text or Markdown, and where they are in it."""
    try:
        claims = claims_of(read(Source(text.encode("utf-8", "replace"), "text", "text", ".md")))
    except Unreadable as problem:
        raise Invalid("invalid", f"the text cannot be read: {problem}", "text") from None
    return claims, placed(claims, text)


class _Finding:
    """The searches of one check, all in the snapshot of the first."""

    def __init__(self, edge: Edge, groups: Groups, body: CheckAsked) -> None:
        self.snapshot = ""
        self._edge, self._groups, self._body = edge, groups, body
        self._free = asyncio.Semaphore(_SEARCHES)
        self._given = None if body.contexts is None else given(body.contexts)

    async def judge(self, claims: Sequence[Claim]) -> list[Checked]:
        """The verdicts in order. The gate works in a thread, on one sentence at a time for all requests, between the streams."""
        if self._given is not None:
            found = await asyncio.to_thread(Found, self._given)
            return [await self._judged(claim, found) for claim in claims]
        first = next((at for at, claim in enumerate(claims) if claim.states), len(claims))
        results = [await self._searched(claim) for claim in claims[: first + 1]]
        async with asyncio.TaskGroup() as group:
            rest = [group.create_task(self._searched(claim)) for claim in claims[first + 1 :]]
        return results + [task.result() for task in rest]

    async def _searched(self, claim: Claim) -> Checked:
        if not claim.states:
            return judged(claim, Found(()))
        async with self._free:
            return await self._judged(claim, await self._passages(claim))

    async def _judged(self, claim: Claim, found: Found | tuple[Passage, ...]) -> Checked:
        async with self._edge.checking:
            return await asyncio.to_thread(lambda: judged(claim, found if isinstance(found, Found) else Found(found)))

    async def _passages(self, claim: Claim) -> tuple[Passage, ...]:
        client = SearchClient(self._edge.runs.client, time.time() + self._edge.timeouts.search_s)
        request = SearchRequest(
            query=claim.query,
            language=self._body.language or "",
            k=PASSAGES,
            filter=self._body.filter,
            groups=self._groups,
            snapshot=self.snapshot,
            as_list=True,
        )
        reply, _ = await client(request)
        self.snapshot = self.snapshot or reply.snapshot
        return reply.passages
