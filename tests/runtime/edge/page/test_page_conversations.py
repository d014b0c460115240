"""Conversations on the page in a real browser: follow-ups, the list of past ones, examples, copies, and the page of a run."""

import asyncio
import re

import msgspec
import pytest
from groundwire.wire import Block, CitedPlace, ListedSource
from playwright.async_api import Page, Route, expect

from bus.journal.verdicts import Verdict, verdict_in, verdict_key
from bus.powers.served_index import ExampleQuestion, Held, HeldDocument, ServedIndex, answer_served_index
from bus.powers.sources import ListAsked, Question, SourceList, SourceText, TextAsked, answer_sources
from bus.transport.connection import connect
from bus.wire.messages import QuestionAsked
from index.filters import Filter
from tests.clients.cutting import CutProxy
from tests.runtime.edge.conftest import NEAR, SOURCE, Pipeline, near, plays
from tests.runtime.edge.conftest import answer as answer_plainly
from tests.runtime.edge.page.conftest import answer, answered, ask, done


def heard(pipeline: Pipeline, word: str) -> "asyncio.Queue[QuestionAsked]":
    """The questions that begin with a word, each answered as usual."""
    found: asyncio.Queue[QuestionAsked] = asyncio.Queue()

    async def hear(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        found.put_nowait(question)
        await answer_plainly(pipeline, run_id, question)

    pipeline.scripts[word] = hear
    return found


async def test_follow_up_keeps_the_conversation_and_answers(page: Page, pipeline: Pipeline) -> None:
    questions = heard(pipeline, "Talk")
    await answered(page, "Talk of refunds")
    await expect(page.get_by_label("Your question")).to_be_focused()
    first = await questions.get()
    assert (first.conversation, first.conversation_history) == (None, ())
    await expect(page).to_have_url(re.compile(r"/conversations/[\w-]+$"))
    await page.keyboard.type("Talk of shipping")
    await page.keyboard.press("Enter")
    await expect(page.locator(".turn")).to_have_count(2)
    await done(page)
    second = await questions.get()
    assert page.url.endswith(f"/conversations/{second.conversation}")
    assert [(turn.role, turn.content) for turn in second.conversation_history] == [
        ("user", "Talk of refunds"),
        ("assistant", "Talk of refunds [1]"),
    ]
    await expect(page.locator(".answer")).to_have_text(["Talk of refunds 1", "Talk of shipping 1"])
    await expect(page.locator(".sources .card")).to_have_count(2)


async def test_voice_is_remembered_once_chosen(page: Page, pipeline: Pipeline) -> None:
    questions = heard(pipeline, "Voice")
    await answered(page, "Voice as set")
    assert (await questions.get()).voice is None
    await page.get_by_label("Show", exact=True).select_option("Best match")
    await page.reload()
    await expect(page.get_by_label("Show", exact=True)).to_have_value("helpful")
    await ask(page, "Voice as chosen")
    assert (await questions.get()).voice == "helpful"


async def test_profiles_for_one_use_are_not_offered(page: Page) -> None:
    await expect(page.get_by_label("Profile").locator("option")).to_have_text(["general", "library"])


async def test_follow_up_scrolls_to_the_top(page: Page) -> None:
    for question in ("First of two", "Second of two"):
        await ask(page, question)
        await expect(page.locator(".turn").last.locator("h2")).to_have_text(question)
        await done(page)
    top = "document.querySelector('.turn:last-child').getBoundingClientRect().top"
    bar = "document.getElementById('top').getBoundingClientRect().bottom"
    await page.wait_for_function(f"() => {top} >= {bar} && {top} < {bar} + 40", polling=50)


async def test_conversation_reopens_by_address_and_list(page: Page) -> None:
    await answered(page, "Reopen one")
    await ask(page, "Reopen two")
    await expect(page.locator(".turn")).to_have_count(2)
    await done(page)
    await page.reload()
    await expect(page.locator(".turn h2")).to_have_text(["Reopen one", "Reopen two"])
    await done(page)
    await expect(page.locator(".answer")).to_have_text(["Reopen one 1", "Reopen two 1"])
    listed = page.get_by_role("navigation").get_by_role("link", name="Reopen one")
    await expect(listed).to_have_attribute("aria-current", "page")
    await page.get_by_role("link", name="New conversation").click()
    await expect(page.locator(".turn")).to_have_count(0)
    await expect(page.get_by_label("Your question")).to_be_focused()
    await expect(listed).to_have_count(1)
    await expect(page.get_by_role("navigation").get_by_role("link", name="Reopen two")).to_have_count(0)
    await listed.click()
    await expect(page.locator(".turn h2")).to_have_text(["Reopen one", "Reopen two"])
    await page.go_back()
    await expect(page.locator(".turn")).to_have_count(0)


async def test_conversation_is_renamed_exported_and_deleted(page: Page, pipeline: Pipeline) -> None:
    other = await page.request.post(f"{page.url}v1/runs", data={"question": "Of an integration"})
    assert other.ok
    await answered(page, "Keep one")
    await ask(page, "near enough?")
    await expect(page.locator(".turn")).to_have_count(2)
    await done(page)
    listed = page.locator("#past-list a")
    await expect(listed.filter(has_text="Keep one")).to_have_count(1)
    await expect(listed.filter(has_text="Of an integration")).to_have_count(0)
    async with page.expect_download() as file:
        await page.get_by_role("button", name="Export").click()
    download = await file.value
    assert download.suggested_filename == "Keep-one.md"
    text = (await download.path()).read_text(encoding="utf-8")
    assert text.startswith("## Keep one\n\nKeep one [1]\n\n1. 환불 규정\n   > 환불 규정\n\n## near enough?")
    assert NEAR[1].text in text
    page.once("dialog", lambda asked: asked.accept("Renamed here"))
    await page.get_by_role("button", name="Rename").click()
    await expect(listed.filter(has_text="Renamed here")).to_have_attribute("aria-current", "page")
    await page.reload()
    await expect(listed.filter(has_text="Renamed here")).to_have_count(1)
    page.once("dialog", lambda asked: asked.accept())
    await page.get_by_role("button", name="Delete").click()
    await expect(listed.filter(has_text="Renamed here")).to_have_count(0)
    await expect(page.locator(".turn")).to_have_count(0)


@pytest.mark.parametrize("pages", [None, 2])
async def test_source_opens_next_to_the_answer_highlighted(page: Page, pipeline: Pipeline, pages: int | None) -> None:
    """One of pages is shown as its own page shows it."""
    text = "👩‍🎓 # Fees\n\nBasic costs 5 euros. **Pro** costs 9.\nPlan: Basic | Price: 5\nThe end."
    start = text.index("Basic costs")
    end = text.index("\nThe end")
    row = text.index("Plan:")

    async def find(asked: Question) -> SourceText:
        assert isinstance(asked, TextAsked)
        assert (asked.source_id, asked.start <= start) == (SOURCE.source_id, True)
        return SourceText(
            source_id=SOURCE.source_id, title=SOURCE.title, url=SOURCE.url, language="en", characters=len(text) + 1000,
            passages=1, snapshot="s", start=0, end=len(text), text=text, pages=pages,
            page_starts=((0, 1), (start, 2)) if pages else (),
            blocks=(
                Block(start=0, end=start - 2, kind="heading"),
                Block(start=start, end=row - 1),
                Block(start=row, end=end, kind="table_row"),
                Block(start=end + 1, end=len(text)),
            ),
        )  # fmt: skip

    cited = CitedPlace(n=1, url="", page=2, source_start=start, source_end=end, cited_text=text[start:end])
    source = msgspec.structs.replace(SOURCE, n=(1,), cited=(cited,))
    pipeline.scripts["placed"] = plays("Five [1].", outcome="answered", answer="Five [1].", references=(source,))
    close = await answer_sources(pipeline.bus.client, find)
    await pipeline.bus.client.flush()
    await answered(page, "placed fees")
    await answer(page).get_by_role("button", name="Show source 1").click()
    panel = page.get_by_role("complementary")
    if pages:
        shown = page.frame_locator("#panel iframe")
        await expect(shown.locator("article")).to_be_visible()
        await expect(panel.get_by_role("heading", name=SOURCE.title)).to_have_count(1)
        await expect(shown.get_by_role("heading", name=SOURCE.title)).to_have_count(0)
        before = page.viewport_size
        assert before is not None
        await page.set_viewport_size({"width": 390, "height": 844})
        frame = "document.querySelector('#panel iframe').getBoundingClientRect()"
        await page.wait_for_function(f"() => {frame}.x === 0 && {frame}.width === 390", polling=50)
        await page.set_viewport_size(before)
    else:
        await expect(panel.locator("mark")).to_have_text(
            ["Basic costs 5 euros. Pro costs 9.", "Plan: Basic · Price: 5"]
        )
        await expect(panel.locator("mark").first).to_be_in_viewport()
        await expect(panel.locator("h3")).to_have_text("👩‍🎓 # Fees")
    for stays in (panel.get_by_text(SOURCE.source_id, exact=True), panel.get_by_role("link").first):
        await expect(stays).to_be_in_viewport()
    await expect(panel.get_by_role("link", name="Open the original")).to_have_attribute("href", SOURCE.url)
    await expect(panel.get_by_role("link", name="Open the whole document")).to_have_attribute(
        "href", f"/sources/{SOURCE.source_id}?start={start}&end={end}"
    )
    await expect(answer(page)).to_be_visible()
    await close()


async def test_documents_are_filtered_and_asked_alone(page: Page, pipeline: Pipeline) -> None:
    questions = heard(pipeline, "Only")
    ids = ("Work/a/plan.md", "Work/b/plan[1].md", "Home/plan.pdf")

    async def find(asked: Question) -> SourceList:
        assert isinstance(asked, ListAsked)
        items = [
            ListedSource(source_id=each, title="Plan", url="", language="en", characters=9, passages=1) for each in ids
        ]
        start = 2 if asked.after else 0
        return SourceList(
            items=tuple(items[start : start + 2]), count=3, snapshot="s", next="" if start else items[1].source_id
        )

    close = await answer_sources(pipeline.bus.client, find)
    await pipeline.bus.client.flush()
    await page.get_by_role("link", name="Documents", exact=True).click()
    rows = page.locator("#documents .sources li")
    await expect(rows.locator(".path")).to_have_text(list(ids))
    await page.get_by_label("Type").select_option("pdf")
    await expect(rows).to_have_count(1)
    await page.get_by_label("Type").select_option("")
    await page.get_by_label("Folder").select_option("Work")
    await expect(rows).to_have_count(2)
    await page.locator("#documents").get_by_label("Search").fill("[1]")
    await expect(rows).to_have_count(1)
    await rows.get_by_role("link", name="Ask only here").click()
    await expect(page.locator("#only-name")).to_have_text("Work/b/plan[1].md")
    await answered(page, "Only there")
    assert (await questions.get()).filter == Filter(path="/Work/b/plan[[]1].md")
    await page.get_by_role("button", name="Ask all documents").click()
    await ask(page, "Only anywhere")
    assert (await questions.get()).filter is None
    await close()


async def test_verdict_and_its_reason_are_kept(page: Page, pipeline: Pipeline) -> None:
    await answered(page, "Judge the refunds")
    await page.get_by_role("button", name="Wrong").click()
    await done(page, "Noted.")
    await page.get_by_label("What is wrong?").fill("It is 14 days")
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_label("What is wrong?")).to_be_hidden()
    await page.reload()
    await expect(page.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("button", name="Right")).to_have_attribute("aria-pressed", "false")
    run_id = page.url.rpartition("/")[2]
    verdict = verdict_in(await pipeline.bus.journal.latest([verdict_key(run_id).subject]))
    assert verdict == Verdict(verdict="wrong", note="It is 14 days")


async def test_documents_list_unanswered_questions(page: Page, pipeline: Pipeline, line: CutProxy) -> None:
    async def answer_later(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        pipeline.scripts["later"] = answer_plainly
        await near(pipeline, run_id, question)

    async def find(asked: Question) -> SourceList:
        return SourceList(items=(), count=0, snapshot="s")

    pipeline.scripts["later"] = answer_later
    for question in ("near the quay", "later the quay", "near the Quay", "later the quay"):
        await page.goto(line.address)
        await answered(page, question)
    close = await answer_sources(pipeline.bus.client, find)
    await pipeline.bus.client.flush()
    await page.get_by_role("link", name="Documents", exact=True).click()
    await page.get_by_text("Questions without an answer").click()
    row = page.locator("#documents details li").filter(has_text="the quay")
    await expect(row).to_have_text("near the Quay × 2")
    await close()
    await row.get_by_role("link").click()
    await expect(page.locator(".turn .verdict .badge")).to_have_text("closest passages")


async def test_answer_is_copied_with_its_sources(page: Page) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await answered(page, "Copy **this**")
    await page.get_by_role("button", name="Copy", exact=True).click()
    await done(page, "Copied")
    text = await page.evaluate("navigator.clipboard.readText()")
    assert text == "Copy **this**\n\nCopy this [1]\n\n[1] 환불 규정: “환불 규정”\n"
    await page.get_by_role("button", name="Copy as Markdown").click()
    await page.wait_for_function("async () => (await navigator.clipboard.readText()).startsWith('## ')")
    text = await page.evaluate("navigator.clipboard.readText()")
    assert text == "## Copy **this**\n\nCopy **this** [1]\n\n1. 환불 규정\n   > 환불 규정\n"


async def test_run_page_shows_stages_with_messages(page: Page) -> None:
    await answered(page, "Stages please")
    await page.get_by_role("link", name="How this was answered").click()
    await expect(page).to_have_url(re.compile(r"/runs/[\w-]+$"))
    await expect(page.get_by_role("heading", level=1, name="Stages please")).to_be_visible()
    await expect(page.locator(".facts")).to_contain_text("answered")
    await page.reload()
    stage = page.get_by_role("listitem").filter(has_text="Understand the question")
    await stage.locator("summary").focus()
    await page.keyboard.press("Enter")
    taken = stage.get_by_text("Input question_asked")
    await taken.click()
    await expect(stage.get_by_role("group", name="Input")).to_contain_text('"question": "Stages please"')
    await page.get_by_role("link", name="Back to the conversation").click()
    await expect(answer(page)).to_have_text("Stages please 1")


async def test_sentence_leads_to_its_evidence(page: Page) -> None:
    flag = {"kind": "fabricated_number", "strength": "strong", "words": "38", "evidence_n": [1], "why": "14 there"}
    cited = [{"n": 1, "source_id": "refunds.md", "url": "/sources/refunds.md?start=0&end=9", "text": "Within 14 days."}]
    told = {
        "text": "Within 38 days [1].",
        "standing": "withheld",
        "flags": [flag],
        "cited": cited,
        "stage": "classify_intent",
    }
    hit = {"source_id": "opening.md", "start": 0, "end": 9, "text": "At nine.", "score": 0.1, "fate": "", "used": False}
    best = hit | {"share": 0.04, "shown": False, "why": {}}

    async def explained(route: Route) -> None:
        trace = await (await route.fetch()).json()
        await route.fulfill(json=trace | {"sentences": [told], "hits": [hit], "best": [best]})

    await page.route("**/trace", explained)
    await answered(page, "Reasons please")
    await page.get_by_role("link", name="How this was answered").click()
    item = page.get_by_role("listitem").filter(has_text="Within 38 days")
    await expect(item).to_contain_text("Contains a number that the source does not have: 38")
    await expect(item.get_by_role("link")).to_have_attribute("href", "/sources/refunds.md?start=0&end=9")
    await expect(page.get_by_role("listitem").filter(has_text="At nine.")).to_contain_text("opening.md 4%")
    await item.get_by_role("button", name="Understand the question").click()
    await expect(page.get_by_text("Input question_asked")).to_be_visible()


async def test_stage_calls_are_listed_in_order(page: Page) -> None:
    asked = {"prompt": "classify_intent", "model": "m", "took_s": 0.003, "tokens_in": 0, "tokens_out": 1, "reply": "{}"}
    searched = {"query": "الاعتراض", "took_s": 0.004, "hits": []}
    step = {"stage": "retrieve", "lane": "main", "asks": [asked | {"same_version": True}], "searches": [searched]}
    await page.route("**/trace/*", lambda route: route.fulfill(json=step | {"took": [], "gave": []}))
    await answered(page, "Order please")
    await page.get_by_role("link", name="How this was answered").click()
    await page.locator("#run summary").first.click()
    shown = ["classify_intent", "m", "3 ms", "0 + 1", "Search the documents", "الاعتراض", "4 ms"]
    await expect(page.locator("#run h3 bdi")).to_have_text(shown)


async def test_empty_page_offers_questions_of_the_documents(page: Page, pipeline: Pipeline) -> None:
    held = Held(
        documents=1234,
        languages={"ko": 3, "en": 2},
        titles=(HeldDocument(source_id="a.md", title="About"),),
        examples=(
            ExampleQuestion(question="환불은 언제 되나요?", language="ko", source_id="b.md"),
            ExampleQuestion(question="When is a refund paid?", language="en", source_id="a.md"),
        ),
    )

    async def served() -> ServedIndex:
        raise AssertionError("not asked for")

    async def found(groups: object) -> Held:
        return held

    searching = await connect(pipeline.bus.settings, name="index")
    await answer_served_index(searching, served, found)
    await searching.flush()
    await page.reload()
    await expect(page.locator("#empty")).to_contain_text("Documents: 1,234 · Korean and English")
    examples = page.locator(".example")
    await expect(examples).to_have_text(["When is a refund paid?", "환불은 언제 되나요?"])
    await examples.first.click()
    await expect(answer(page)).to_have_text("When is a refund paid? 1")
    await expect(page.locator("#empty")).to_be_hidden()
    await searching.close()
