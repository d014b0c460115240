"""A search process of a few documents for the tests of MCP clients, one of them a group's own."""

from collections.abc import AsyncIterator
from itertools import islice

import pytest
from groundwire.wire import ListedSource

from bus.powers.sources import (
    LONGEST,
    Found,
    ListAsked,
    Question,
    SourceList,
    SourceText,
    answer_sources,
    no_such_source,
)
from tests.runtime.edge.conftest import Bus

LONG = "".join(f"Paragraph {n:05d}.\n" for n in range(16_000))
TEXTS = {
    "long.txt": LONG,
    "sales/prices.md": "A seat costs 30 euros.",
    "shop/refunds.md": "Refunds are paid within 14 days.\n\nThe shipping fee is kept.",
    **{f"shop/{n:03d}.md": f"Number {n}." for n in range(150)},
}
#: The groups of a restricted document.
GROUPS = {"sales/prices.md": "sales"}


def _seen(question: Question) -> list[str]:
    groups = question.groups
    return sorted(each for each in TEXTS if groups is None or each not in GROUPS or GROUPS[each] in groups)


async def find(question: Question) -> Found:
    ids = _seen(question)
    if isinstance(question, ListAsked):
        there = [each for each in ids if each > question.after]
        page = list(islice(there, question.most))
        rest = page[-1] if len(there) > len(page) else ""
        return SourceList(items=tuple(map(_listed, page)), count=len(ids), snapshot="s", next=rest)
    if question.source_id not in ids:
        raise no_such_source(question.source_id)
    text, listed = TEXTS[question.source_id], _listed(question.source_id)
    start = min(question.start, len(text))
    end = max(start, min(question.end, start + LONGEST, len(text)))
    return SourceText(
        source_id=listed.source_id,
        title=listed.title,
        url=listed.url,
        language=listed.language,
        characters=listed.characters,
        passages=listed.passages,
        snapshot="s",
        start=start,
        end=end,
        text=text[start:end],
        page_starts=((0, 1), (20, 2)) if question.source_id == "shop/refunds.md" else (),
    )


def _listed(source_id: str) -> ListedSource:
    return ListedSource(
        source_id=source_id,
        title=source_id.rpartition("/")[2].partition(".")[0].capitalize(),
        url=f"/sources/{source_id}",
        language="en",
        characters=len(TEXTS[source_id]),
        passages=1,
    )


@pytest.fixture
async def sources(bus: Bus) -> AsyncIterator[None]:
    close = await answer_sources(bus.client, find)
    await bus.client.flush()  # the server sees it before the first question
    yield
    await close()
