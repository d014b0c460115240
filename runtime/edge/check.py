"""/v1/check: each sentence of a text by anyone, compared with the documents."""

import asyncio
import time
from itertools import batched
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from aiohttp import web
from groundwire.wire import Context
from msgspec import Meta

from actors.checking.report import CheckedSentence, CheckReport, report_of
from actors.checking.thresholds import PASSAGES
from actors.evidence.lanes import given
from bus.journal.access import Groups
from bus.powers.searching import SearchClient, SearchRequest
from bus.powers.served_index import served_index
from bus.wire.errors import Invalid
from bus.wire.parts import Passage
from index.filters import Filter
from prompts.vocabulary import Language
from runtime.edge.door import CALLER
from runtime.edge.problems import Problem
from runtime.edge.routes import Reply, Route, json_response
from runtime.edge.state import EDGE, Edge

if TYPE_CHECKING:  # the gate and the readers are imported, in a thread, with the first check
    from actors.checking.claims import Claim

#: The most characters of a text, and sentences of a request.
LONGEST_TEXT, MOST_SENTENCES = 200_000, 1000
#: How many searches of one request run at a time.
_SEARCHES: Final = 4


class CheckAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text, plain or Markdown, to be checked.

    `contexts`: compare with these in place of the index. `language` is the text's, detected for each sentence if omitted.
    """

    text: Annotated[str, Meta(max_length=LONGEST_TEXT)]
    contexts: Annotated[tuple[Context, ...], Meta(max_length=50)] | None = None
    filter: Filter | None = None
    language: Language | None = None


@Route("POST", "/v1/check", {200: Reply("The sentences with their verdicts.", CheckReport)}, "search", body_times=12)
async def check(request: web.Request, body: CheckAsked) -> web.Response:
    """Compare each sentence of a text with the documents."""
    return json_response(await checked(request.app[EDGE], request[CALLER].groups, body))


async def checked(edge: Edge, groups: Groups, body: CheckAsked) -> CheckReport:
    """What the documents of those in `groups` say about each sentence. Raises Invalid, Problem, Unavailable."""
    async with edge.checking:  # a long text is read slowly
        claims = await asyncio.to_thread(_claims, body)
    if len(claims) > MOST_SENTENCES:
        detail = f"the text has {len(claims)} sentences; send at most {MOST_SENTENCES} at a time"
        raise Problem(413, "too_large", detail, field="text")
    if body.contexts is not None:
        passages = given(body.contexts)
        return report_of([await _judged(edge, claim, passages) for claim in claims])
    client, patience_s = edge.runs.client, edge.timeouts.search_s
    snapshot = (await served_index(client, timeout_s=patience_s)).snapshot  # for all searches

    async def found(claim: "Claim") -> tuple[Passage, ...]:
        if not claim.states:
            return ()
        request = SearchRequest(
            query=claim.query,
            language=body.language or "",
            k=PASSAGES,
            filter=body.filter,
            groups=groups,
            snapshot=snapshot,
            as_list=True,
        )
        reply, _ = await SearchClient(client, time.time() + patience_s)(request)
        return reply.passages

    results: list[CheckedSentence] = []
    for some in batched(claims, _SEARCHES):
        for claim, passages in zip(some, await asyncio.gather(*map(found, some)), strict=True):
            results.append(await _judged(edge, claim, passages))
    return report_of(results, snapshot)


def _claims(body: CheckAsked) -> "tuple[Claim, ...]":
    """Raises Invalid."""
    from index.readers import Unreadable
    from runtime.checked.file import checked_file

    if not body.text.strip():
        raise Invalid("invalid", "text: it is empty; give a text", "text")
    try:
        return checked_file("text.md", body.text.encode("utf-8", "replace")).claims
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
