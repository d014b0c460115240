"""Ask, and print the answer as it arrives, its sources, or the passages that come closest.

What is asked is the bus of a stack on this machine, or a server anywhere that listens for HTTP.
"""

import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from groundwire.wire import Citation, NearPassage, Reference
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bus.journal.access import Access, Groups, grant
from bus.powers.events import Error, Passages, References, StreamEvent, Token, TokensEnd, event_in
from bus.runs.run_record import RunRecord
from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from index.languages import spoken
from index.source_paths import published
from index.text.citations import strip_markers
from index.text.sentences import shortened
from prompts.notices import comma
from runtime.commands.filter_options import line_about
from runtime.settings import Settings
from runtime.terminal import Bold, fit, one_line, say, say_json

if TYPE_CHECKING:
    from groundwire.client import Client


class OverBus:
    """A question to the stack of these runs, with the rights of `groups`. `heard` is called before each event is passed on."""

    def __init__(
        self, runs: Runs, question: QuestionAsked, groups: Groups = None, heard: Callable[[], None] = lambda: None
    ) -> None:
        self.runs = runs
        self.heard = heard
        self.question = question
        self.groups = groups
        self.run_id = runs.run_id_for(question)

    async def lines(self) -> AsyncIterator[bytes]:
        if self.groups is not None:
            await grant(self.runs.journal, self.run_id, Access(groups=self.groups))
        submitted = await self.runs.submit(self.question, self.run_id)
        async for _, line in self.runs.events(submitted.run_id):
            self.heard()
            yield line

    async def record(self) -> RunRecord | None:
        return await self.runs.record(self.run_id)


class OverHttp:
    """A question to the server of a client."""

    def __init__(self, client: "Client", question: QuestionAsked) -> None:
        from groundwire.client import Question  # a question over the bus needs no HTTP

        asked = {k: v for k, v in msgspec.to_builtins(question).items() if k != "type" and v is not None}
        self.stream = client.stream(msgspec.convert(asked, Question))

    async def lines(self) -> AsyncIterator[bytes]:
        async with self.stream as stream:
            async for _, line in stream.lines():
                yield line

    async def record(self) -> RunRecord | None:
        record = msgspec.to_builtins(await self.stream.record())
        return msgspec.convert(record, RunRecord)


#: A question that is asked once: `lines` asks it, and gives each event as JSON up to and with DONE; `record` is what became
#: of it so far. Both raise Failure or GroundwireError.
type Asked = OverBus | OverHttp

EXIT = {"answered": 0, "closest": 3, "refused": 3, "declined": 3, "failed": 1, "cancelled": 1}

_STOPS = ".,!?…:;。，！？；：؟،؛ "
_LIST_MARK = re.compile(r"\A(?:[-*+•·]|\d{1,3}[.)])\s+")
#: Characters that are read at one glance.
_GLANCE = 120
_LINE_ENDS = re.compile(r"\n(?:[ \t]*\n)*")

#: Time budget of each stage on the reference machine, in seconds (README, "Time").
BUDGETS = {
    "classify_intent": 0.3,
    "rewrite_query": 0.3,
    "classify_query": 0.3,
    "decompose_query": 1.0,
    "retrieve": 1.5,
    "judge_relevance": 1.5,
    "judge_sufficiency": 0.5,
}


def at_once(settings: Settings) -> bool:
    """Whether an answer is printed whole: on a terminal, where no model writes it word by word."""
    return settings.inference.engine == "extractive" and sys.stdout.isatty()


async def show(
    asked: Asked,
    *,
    as_json: bool = False,
    timings: bool = False,
    console: Console,
    whole: bool = False,
    more: bool = False,
) -> int:
    """Ask, and print the answer as it arrives, or `whole` with the sentence that answers in bold. Returns the exit code.

    `more`: print the text of all passages near the question, not of the closest one alone.
    """
    told = ""
    async for line in asked.lines():
        if as_json:
            say_json(msgspec.Raw(line))
            continue
        event = event_in(line)
        if whole and isinstance(event, Token | TokensEnd):
            told += event.content
            continue
        if told:
            say(*answer_pieces(told, await asked.record()), nl=False)
            told = ""
        if event is not None:
            await _print_event(asked, event, more=more)
    record = await asked.record()
    if record is None or record.outcome is None:
        return 1
    if not as_json:
        if record.outcome in ("refused", "declined"):  # no sources follow on a line of their own
            say()
        page = spoken(record.language).page
        for doubt in _doubts(record):
            console.print(doubt, style="dim")
        if others := uncited(record):
            say(page["words"]["nearby"])
            print_passages(others, record.language, more=more, complete=0)
        if timings:
            console.print(timing_table(record))
    return EXIT[record.outcome]


def uncited(record: RunRecord) -> list[NearPassage]:
    """The passages near an answer of which nothing is cited."""
    return [near for near in record.nearby if not any(_overlaps(near, one) for one in record.citations)]


def _overlaps(near: NearPassage, cited: Citation) -> bool:
    same = near.source_id == cited.source_id
    return same and near.source_start < cited.source_end and cited.source_start < near.source_end


def _doubts(record: RunRecord) -> Iterator[str]:
    """What is marked in an answer, that its confidence is low, and what of the question its sources lack."""
    page = spoken(record.language).page
    for each in record.unverified:
        why = "; ".join(one_line(flag.why) for flag in each.flags)
        yield f"[{page['words']['unverified_mark']}] {one_line(each.text)}" + (f" ({why})" if why else "")
    if record.outcome == "answered" and record.confidence == "low":
        yield page["sure"]["low"]
    if record.missing:
        yield f"{page['words']['unmentioned']} {one_line(comma(record.language).join(record.missing))}"


async def _print_event(asked: Asked, event: StreamEvent, *, more: bool) -> None:
    if isinstance(event, Token):
        say(event.content, nl=False)
    elif isinstance(event, References):
        say("\n")
        await _print_sources(asked, event.items)
    elif isinstance(event, Passages):
        record = await asked.record()
        items, language = (record.passages, record.language) if record and record.passages else (event.items, "")
        print_passages(items, language, more=more)
    elif isinstance(event, Error):
        say(f"\n{event.content}", err=True)


def print_passages(passages: Sequence[NearPassage], language: str, *, more: bool, complete: int = 1) -> None:
    """Print that many passages, or all, with their texts, and a line for each other; labels are in the `language`."""
    words = spoken(language).page["words"]
    if more or complete:
        say()
    for number, passage in enumerate(passages, 1):
        if more or number <= complete:
            say("\n", *passage_pieces(number, passage, language))
        else:
            where = place_in(passage)
            say(("\n" if number == complete + 1 else "") + _named(number, passage) + (f", {where}" if where else ""))
            if old := _outdated(passage, language):
                say(old)
            if passage.best:
                say("   > " + shortened(one_line(passage.text[slice(*passage.best)]), _GLANCE))
    if not more and len(passages) > complete:
        say(f"\n{words['more']} (--more)")


def answer_pieces(answer: str, record: RunRecord | None) -> tuple[str | Bold, ...]:
    """The answer with the sentence or cell that answers in bold: the lead of the first citation, if it is there word for word.
    Far inside a paragraph it also comes first.
    """
    first = record.citations[0] if record and record.citations else None
    if first is None or first.lead is None:
        return (answer,)
    start, end = (at - first.source_start for at in first.lead)
    sentence = first.cited_text[start:end].strip().partition("\n\n")[0]  # the code that it introduces follows
    if first.block == "table_row" and sentence == first.cited_text.strip():
        return (answer,)
    words = _LIST_MARK.sub("", sentence, count=1).rstrip(_STOPS).split()
    found = re.search(r"\s+".join(map(re.escape, words)), answer, re.IGNORECASE) if words else None
    if found is None:
        return (answer,)
    before = answer[: found.start()]
    far = len(before) - before.rfind("\n") > _GLANCE and first.block != "table_row"
    above = ("> ", Bold(strip_markers(found[0])), "\n\n") if far else ()
    return *above, before, Bold(found[0]), answer[found.end() :]


async def _print_sources(asked: Asked, references: tuple[Reference, ...]) -> None:
    """Print the cited sources under the numbers of the answer's markers, with the headings that lead to each place."""
    record = await asked.record()
    cited: dict[str, dict[int, Citation]] = {}
    for citation in record.citations if record else ():
        cited.setdefault(citation.source_id, {}).setdefault(citation.n, citation)
    for reference in references:
        places = dict(sorted(cited.get(reference.source_id, {}).items()))
        marks = "".join(f"[{n}]" for n in places) or "-"
        name = one_line(reference.title or reference.source_id)
        place = one_line(published(reference.url) or reference.source_id)
        say(f"  {marks} {name}" + (f" ({place})" if place != name else ""))
        if line := line_about(reference.about, record.language if record else ""):
            say(f"      {one_line(line)}")
        for n, citation in places.items():
            if where := place_of(citation, reference.title or reference.source_id):
                say(f"      [{n}] {one_line(where)}")


def passage_pieces(number: int, passage: NearPassage, language: str) -> tuple[str | Bold, ...]:
    """One of the closest passages: its number, title and place, then its text with its best sentence in bold, or else the words
    that match, and the words of the question that it lacks. Of a long text the best sentence also comes first; before it, that the
    document is out of date.
    """
    above = (_named(number, passage), place_in(passage), _outdated(passage, language).strip())
    pieces: list[str | Bold] = ["\n   ".join(filter(None, above)) + "\n   "]
    best = one_line(passage.text[slice(*passage.best)]) if passage.best and passage.best[0] else ""
    if best and 2 * len(best) < len(passage.text) - _GLANCE:
        pieces += ["> ", Bold(best), "\n\n   "]
    at = 0
    for start, end in (passage.best,) if passage.best else passage.marked:
        pieces += [_below(passage.text[at:start]), Bold(_below(passage.text[start:end]))]
        at = end
    lacks = spoken(language).page["words"]["missing"]
    missing = f"\n   {lacks} {one_line(comma(language).join(passage.missing))}" if passage.missing else ""
    return *pieces, _below(passage.text[at:].rstrip()), missing


def place_in(passage: NearPassage) -> str:
    """The headings that lead to a passage, below its title, and its page."""
    page = f"p. {passage.page}" if passage.page is not None else ""
    return one_line(", ".join(part for part in (_trail(passage.headings, passage.title), page) if part))


def _outdated(passage: NearPassage, language: str) -> str:
    """A line saying that the passage's document is out of date, and what replaces it; else empty."""
    if passage.outdated is msgspec.UNSET:
        return ""
    words = spoken(language).page["words"]
    return f"   {words['replaced']} {one_line(passage.outdated)}" if passage.outdated else f"   {words['outdated']}"


def _named(number: int, passage: NearPassage) -> str:
    name = one_line(passage.title or passage.source_id)
    source = one_line(published(passage.url) or passage.source_id)
    return f"{number}. {name}" + (f" ({source})" if source != name else "")


def _below(text: str) -> str:
    """Lines of a passage under its number, without the empty ones."""
    return _LINE_ENDS.sub("\n   ", fit(text))


def place_of(citation: Citation, title: str = "") -> str:
    """A citation's place in its document: its headings below the title, its page and, for a table's row, its cells."""
    cells = citation.anchor if citation.block == "table_row" else ""
    page = f"p. {citation.page}" if citation.page is not None else ""
    return ", ".join(part for part in (_trail(citation.headings, title), page, cells) if part)


def _trail(headings: Sequence[str], title: str) -> str:
    below = headings[1:] if headings and headings[0] == title else headings
    return " › ".join(below)


def timing_table(record: RunRecord) -> Table:
    table = Table("stage", "lane", title=f"run {record.run_id}", title_justify="left")
    for column in ("began", "took", "budget"):
        table.add_column(column, justify="right")
    for stage in record.stages:
        budget = BUDGETS.get(stage.stage)
        late = budget is not None and stage.took_s > budget
        table.add_row(
            stage.stage,
            stage.lane,
            f"{stage.began_s * 1000:.1f} ms",
            Text(f"{stage.took_s * 1000:.1f} ms", style="red" if late else ""),
            f"{budget * 1000:.0f} ms" if budget else "",
        )
    first, took = ("" if s is None else f"{s * 1000:.1f} ms" for s in (record.first_shown_s, record.took_s))
    table.caption = (
        f"first sentence after {first}, whole run {took}, withheld {record.withheld_share:.0%}, "
        f"tokens in {record.tokens_in}, out {record.tokens_out}"
    )
    return table
