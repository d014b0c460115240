"""The page in a real browser: what a reader sees, clicks and types, and what happens when the line breaks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from playwright.async_api import Browser, Page, expect

from bus.events import Done, Emitter, References, TokensEnd, Withheld, tokens_of
from bus.messages import About, Citation, Flag, QuestionAsked, RunFinished, Settled
from bus.subjects import finished
from runtime.keys import KeyFile
from runtime.processes.edge import serve
from runtime.settings import AccessSettings, EdgeSettings, Settings
from tests.browser import browser, find_chromium
from tests.runtime.edge.conftest import NEAR, SOURCE, Pipeline

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    path = await find_chromium()
    if path is None:
        pytest.skip("no Chromium here, and it cannot be installed")
    async with browser(path) as running:
        yield running


class Line:
    """What lies between browser and edge: `cut` breaks every connection, and new ones go through."""

    def __init__(self, edge: str) -> None:
        self._port = int(edge.rpartition(":")[2])
        self._open: set[asyncio.StreamWriter] = set()
        self.address = ""

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, back}
        await asyncio.gather(_carry(reader, back), _carry(there, writer))
        self._open -= {writer, back}

    def cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


@pytest.fixture
async def line(edge: str) -> AsyncIterator[Line]:
    made = Line(edge)
    server = await asyncio.start_server(made.join, "127.0.0.1", 0)
    made.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()
    made.cut()


@pytest.fixture
async def page(chromium: Browser, line: Line) -> AsyncIterator[Page]:
    """A page of its own with a clean store; complaints of the browser and requests elsewhere fail the test."""
    context = await chromium.new_context(locale="en-GB")
    made = await context.new_page()
    complaints: list[str] = []
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
    made.on("request", lambda request: None if request.url.startswith(line.address) else complaints.append(request.url))
    await made.goto(line.address)
    yield made
    await context.close()
    assert complaints == []


async def ask(page: Page, question: str) -> None:
    await page.get_by_label("Your question").fill(question)
    await page.get_by_role("button", name="Ask").click()


async def finish(pipeline: Pipeline, run_id: str, emitter: Emitter, answer: str) -> None:
    settled = Settled(outcome="answered", answer=answer)
    await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
    await emitter.events(TokensEnd(), References(items=()), Done())


async def test_a_question_is_answered_and_its_citation_shows_the_source(page: Page) -> None:
    await ask(page, "환불은 며칠 안에 되나요?")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer")).to_have_text("환불은 며칠 안에 되나요? [1]")
    await expect(page.locator("#verdict .badge")).to_have_text("answered")
    link = page.locator("#references a")
    await expect(link).to_have_attribute("href", SOURCE.url)
    await page.get_by_role("button", name="Show source [1]").click()
    lit = page.locator("#references li.lit")
    await expect(lit).to_be_focused()
    await expect(lit.locator("blockquote")).to_have_text("[1] 환불 규정")


async def test_enter_asks_and_the_address_shows_the_run_again(page: Page) -> None:
    await page.get_by_label("Your question").fill("How long do refunds take?")
    await page.keyboard.press("Enter")
    await expect(page.locator("#status")).to_have_text("Done.")
    await page.reload()
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer")).to_have_text("How long do refunds take? [1]")
    await expect(page.get_by_label("Your question")).to_have_value("How long do refunds take?")


async def test_what_documents_say_is_text_and_never_markup(page: Page) -> None:
    await ask(page, "<img/src=x onerror=alert(1)> <b>bold</b>")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer")).to_have_text("<img/src=x onerror=alert(1)> <b>bold</b> [1]")
    assert await page.locator("#answer img, #answer b").count() == 0


async def test_headings_and_bold_words_are_shown_as_such(page: Page) -> None:
    await ask(page, "## The conclusion\n\n1. **House rules** 2 * 3 ** 4 [1].")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer strong")).to_have_text(["The conclusion", "House rules"])
    await expect(page.locator("#answer")).to_have_text("The conclusion\n\n1. House rules 2 * 3 ** 4 [1]. [1]")


async def test_code_is_shown_as_code(page: Page) -> None:
    await ask(page, "Run `a[1]` **now**:\n\n```bash\n**make** a[1]\n\nmake b\n```\n\nDone")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer pre code")).to_have_text("**make** a[1]\n\nmake b\n", use_inner_text=True)
    await expect(page.locator("#answer > code")).to_have_text("a[1]")
    assert await page.locator("#answer button.cite").count() == 1


async def test_a_citation_shows_its_headings_and_a_line_for_each_cell(page: Page, pipeline: Pipeline) -> None:
    async def cite(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.text("Five euros [1].")
        cited = Citation(
            n=1,
            source_id=SOURCE.source_id,
            title=SOURCE.title,
            url="https://example.org/refunds#fees",
            page=None,
            source_start=0,
            source_end=29,
            cited_text="Plan: Basic | Price: 5 euros",
            answer_start=11,
            answer_end=14,
            block="table_row",
            anchor="Fees!A2:B2",
            intro="Fees by plan:",
            headings=("Shop", "Fees"),
        )
        settled = Settled(outcome="answered", answer="Five euros [1].", references=(SOURCE,), citations=(cited,))
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        await emitter.events(TokensEnd(), References(items=(SOURCE,)), Done())

    pipeline.scripts["cite"] = cite
    await ask(page, "cite the fee")
    quote = page.locator("#references blockquote")
    await expect(quote.locator("a")).to_have_text("Shop › Fees")
    await expect(quote.locator("a")).to_have_attribute("href", "https://example.org/refunds#fees")
    await expect(quote.locator("p")).to_have_text("Fees by plan:")
    await expect(quote.locator("pre")).to_have_text("Plan: Basic\nPrice: 5 euros", use_inner_text=True)
    await expect(quote).to_contain_text("Fees!A2:B2")


async def test_the_sentence_that_answers_is_bold_in_what_is_cited(page: Page, pipeline: Pipeline) -> None:
    texts = {1: "🧾 Opened goods stay. Refunds take 14 days. Ask us.", 2: "Plan: Basic | Price: 5 euros | Term: 1 year"}
    bold = {1: "Refunds take 14 days.", 2: "Price: 5 euros"}
    leads = {n: (at := 100 + texts[n].index(words), at + len(words)) for n, words in bold.items()}

    async def lead(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id)
        await emitter.text("Fourteen days [1]. Five euros [2].")
        cited = tuple(
            Citation(
                n=n,
                source_id=SOURCE.source_id,
                title=SOURCE.title,
                url="",
                page=None,
                source_start=100,
                source_end=100 + len(text),
                cited_text=text,
                answer_start=0,
                answer_end=3,
                block="table_row" if n == 2 else "prose",
                lead=leads[n],
            )
            for n, text in texts.items()
        )
        settled = Settled(outcome="answered", answer="…", references=(SOURCE,), citations=cited)
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        await emitter.events(TokensEnd(), References(items=(SOURCE,)), Done())

    pipeline.scripts["lead"] = lead
    await ask(page, "lead me")
    await expect(page.locator("#references blockquote strong")).to_have_text(
        ["Refunds take 14 days.", "Price: 5 euros"]
    )
    await expect(page.locator("#references blockquote p")).to_have_text(texts[1])
    row = page.locator("#references blockquote pre")
    await expect(row).to_have_text("Plan: Basic\nPrice: 5 euros\nTerm: 1 year", use_inner_text=True)


async def test_the_closest_passages_are_shown_as_passages_and_not_as_an_answer(page: Page) -> None:
    await ask(page, "near enough?")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#verdict .badge")).to_have_text("closest passages")
    await expect(page.get_by_role("region", name="No sure answer")).to_have_text("Nothing is sure:")
    await expect(page.locator("#references-part, #sources-part")).to_have_count(2)
    assert not await page.locator("#references-part").is_visible()
    passages = page.get_by_role("region", name="Closest passages, not an answer").get_by_role("listitem")
    await expect(passages).to_have_count(2)
    first, second = passages.nth(0), passages.nth(1)
    await expect(first.get_by_role("heading", level=3)).to_have_text(NEAR[0].title)
    await expect(first.get_by_role("link")).to_have_attribute("href", NEAR[0].url)
    await expect(first.locator("small")).to_have_text("Shop › Refunds · p. 3 · refunds")
    await expect(first.locator("p")).to_have_text(NEAR[0].text, use_inner_text=True)
    await expect(first.locator("mark")).to_have_text(["환불", "환불"])
    assert await page.locator("#passages b, #passages p a, #passages code").count() == 0
    await expect(second.get_by_role("heading", level=3)).to_have_text("file.txt")
    assert await second.get_by_role("link").count() == 0
    assert await second.locator("p").evaluate("it => getComputedStyle(it).direction") == "rtl"


async def test_the_closest_passages_are_reached_by_keyboard_and_shown_again(page: Page) -> None:
    await ask(page, "near enough?")
    await expect(page.locator("#status")).to_have_text("Done.")
    await page.locator("#ask").focus()
    await page.keyboard.press("Tab")
    await expect(page.locator("#passages a")).to_be_focused()
    await page.get_by_label("Language").select_option("ar")
    await expect(page.locator("#passages-title")).to_have_text("أقرب المقاطع، وليست إجابة")
    await expect(page.locator("#answer-title")).to_have_text("لا إجابة مؤكدة")
    await page.reload()
    await expect(page.locator("#passages li")).to_have_count(2)
    await page.locator("#question").fill("something else")
    await page.keyboard.press("Enter")
    await expect(page.locator("#answer")).to_have_text("something else [1]")
    await expect(page.locator("#answer-title")).to_have_text("الإجابة")
    assert not await page.locator("#passages-part").is_visible()


async def test_passages_that_outlive_their_events_are_shown_from_the_record(page: Page, pipeline: Pipeline) -> None:
    async def expired(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        settled = Settled(outcome="closest", reason="no_evidence", answer="Nothing is sure:", passages=NEAR)
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        await Emitter(pipeline.bus.journal, run_id).events(TokensEnd(), Done())

    pipeline.scripts["expired"] = expired
    await page.route("**/v1/runs/*/events", lambda route: route.fulfill(status=410, json={"detail": "expired"}))
    await ask(page, "expired question")
    await expect(page.locator("#status")).to_have_text("Done.")
    await page.reload()
    await expect(page.locator("#passages li")).to_have_count(2)
    await expect(page.locator("#answer")).to_have_text("Nothing is sure:")


async def test_the_page_speaks_arabic_from_right_to_left_and_remembers_it(page: Page) -> None:
    await page.get_by_label("Language").select_option("ar")
    await expect(page.locator("html")).to_have_attribute("dir", "rtl")
    await expect(page.locator("#ask")).to_have_text("اسأل")
    await page.reload()
    await expect(page.locator("#ask")).to_have_text("اسأل")


async def test_it_fits_a_narrow_screen(page: Page) -> None:
    await page.set_viewport_size({"width": 320, "height": 640})
    await ask(page, "Averyverylongwordwithoutanyspaces" * 8)
    await expect(page.locator("#status")).to_have_text("Done.")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 320


async def test_a_broken_line_is_resumed_without_a_word_twice(page: Page, line: Line, pipeline: Pipeline) -> None:
    broken = asyncio.Event()

    async def halting(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=True)
        pieces = tokens_of("one two three four five six")
        for n, piece in enumerate(pieces):
            if n == len(pieces) // 2:
                await broken.wait()
            await emitter.tokens([piece])
        await finish(pipeline, run_id, emitter, "one two three four five six")

    pipeline.scripts["halting"] = halting
    await ask(page, "halting question")
    await expect(page.locator("#answer")).to_contain_text("three")
    async with page.expect_request("**/events") as again:
        line.cut()
    assert (await again.value).headers["last-event-id"]
    broken.set()
    await expect(page.locator("#status")).to_have_text("Done.", timeout=30_000)
    await expect(page.locator("#answer")).to_have_text("one two three four five six")


async def test_withheld_sentences_are_shown_apart_with_their_reason(page: Page, pipeline: Pipeline) -> None:
    flag = Flag(kind="number_mismatch", strength="strong", words="30", evidence_n=(1,), why="the evidence says 14")

    async def withholding(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=True)
        await emitter.events(Withheld(content="Refunds take 30 days.", flags=(flag,)))
        await emitter.tokens(tokens_of("Ask the shop."))
        await finish(pipeline, run_id, emitter, "Ask the shop.")

    pipeline.scripts["withholding"] = withholding
    await ask(page, "withholding question")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer")).to_have_text("Ask the shop.")
    await expect(page.locator("#withheld s")).to_have_text("Refunds take 30 days.")
    await expect(page.locator("#withheld")).to_contain_text("the evidence says 14")


async def test_a_source_tells_what_it_says_of_itself(page: Page, pipeline: Pipeline) -> None:
    about = About(author="Kim", date="2026-01-31", version="2", recognized=True)

    async def scanned(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=True)
        await emitter.tokens(tokens_of("Yes."))
        source = msgspec.structs.replace(SOURCE, about=about)
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=Settled(outcome="answered")))
        await emitter.events(TokensEnd(), References(items=(source,)), Done())

    pipeline.scripts["scanned"] = scanned
    await ask(page, "scanned question")
    await expect(page.locator("#references li")).to_contain_text("Kim · 2026-01-31 · version 2 · read from a picture")


async def test_what_turns_the_order_or_hides_is_not_on_the_page(page: Page, pipeline: Pipeline) -> None:
    """Nor does a text become markup, a link, or bold by the stars of a number that is masked in the document."""
    nasty = "\u202egnp.exe\u202c <img src=x onerror=alert(1)> \x1b[2J\u200b\x9b javascript:alert(1)"
    seen = "gnp.exe <img src=x onerror=alert(1)> [2J javascript:alert(1)"

    async def hostile(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=True)
        answer = f"{nasty} 010-****-**** is **bold** [1]"
        await emitter.tokens(tokens_of(answer))
        source = msgspec.structs.replace(SOURCE, title=nasty, source_id=nasty, url="javascript:alert(1)")
        cited = Citation(
            n=1, source_id=nasty, title=nasty, url="javascript:alert(1)#x", page=None, source_start=0,
            source_end=len(nasty), cited_text=nasty, answer_start=0, answer_end=3, headings=(nasty, nasty),
        )  # fmt: skip
        settled = Settled(outcome="answered", answer=answer, references=(source,), citations=(cited,))
        await pipeline.bus.journal.write(finished(run_id), RunFinished(settled=settled))
        await emitter.events(TokensEnd(), References(items=(source,)), Done())

    pipeline.scripts["hostile"] = hostile
    await ask(page, "hostile question")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer")).to_have_text(f"{seen} 010-****-**** is bold [1]")
    await expect(page.locator("#answer strong")).to_have_text(["bold"])
    item = page.locator("#references li")
    await expect(item.locator("> span")).to_have_text(seen)
    await expect(item.locator("blockquote p")).to_have_text(seen)
    assert await page.locator("#result a, #result img").count() == 0
    shown = await page.locator("#result").inner_text()
    assert not set(shown) & set("\u202e\u202c\x1b\u200b\x9b")
    assert await item.locator("> span").evaluate("it => getComputedStyle(it).unicodeBidi") == "isolate"


async def test_stop_ends_the_run(page: Page, pipeline: Pipeline) -> None:
    async def endless(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        await Emitter(pipeline.bus.journal, run_id, everything=True).tokens(tokens_of("on and on "))

    pipeline.scripts["endless"] = endless
    await ask(page, "endless question")
    await expect(page.locator("#answer")).to_contain_text("on and on")
    async with page.expect_response(lambda response: response.url.endswith("/cancel")) as cancelled:
        await page.get_by_role("button", name="Stop").click()
    assert (await cancelled.value).ok


async def test_where_a_key_is_needed_the_page_asks_for_it(
    chromium: Browser, pipeline: Pipeline, tmp_path: Path
) -> None:
    token = KeyFile(tmp_path / "keys.json").add("ann", ("ask", "read"), now=0)
    settings = Settings(
        bus=pipeline.bus.settings,
        edge=EdgeSettings(port=0),
        access=AccessSettings(required=True),
        state=str(tmp_path),
    )
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    edge = asyncio.create_task(serve(settings, stop, listening=listening))
    context = await chromium.new_context(locale="en-GB")
    page = await context.new_page()
    await page.goto(f"http://localhost:{await listening}")
    await expect(page.locator("#problem")).to_contain_text("a key is needed")
    await page.get_by_label("Access key").fill(token)
    await ask(page, "How long?")
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.locator("#answer")).to_have_text("How long? [1]")
    await page.reload()  # as long as the tab is open
    await expect(page.locator("#status")).to_have_text("Done.")
    await expect(page.get_by_label("Access key")).to_be_hidden()
    await context.close()
    stop.set()
    await edge
