"""An answer on the page in a real browser: what a reader sees, clicks and types, and what happens when the line breaks."""

import asyncio
import re
from pathlib import Path

import msgspec
import pytest
from groundwire.wire import About
from playwright.async_api import Browser, Page, Route, expect

from bus.powers.events import Emitter, StageEvent, Withheld, tokens_of
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Flag
from bus.wire.settled import Settled, WithheldSentence
from index.languages import of
from runtime.keys import KeyFile, Scope
from runtime.settings import AccessSettings
from tests.clients.cutting import CutProxy
from tests.clients.halves import Halves
from tests.runtime.edge.citing import doubt
from tests.runtime.edge.conftest import NEAR, SOURCE, Pipeline, citation, plays
from tests.runtime.edge.page.conftest import answer, answered, ask, done
from tests.runtime.served import edge_of

pytestmark = pytest.mark.timeout(300)


async def test_answer_citation_opens_the_source(page: Page) -> None:
    await answered(page, "환불은 며칠 안에 되나요?")
    await expect(answer(page)).to_have_text("환불은 며칠 안에 되나요? 1")
    await expect(page.locator(".sources .path")).to_have_text("refunds")
    await expect(page.get_by_role("heading", level=2, name="환불은 며칠 안에 되나요?")).to_be_visible()
    await expect(page.locator(".verdict .badge")).to_have_text("answered")
    await expect(page.locator(".verdict")).to_contain_text("High confidence")
    await expect(page.locator(".sources a")).to_have_attribute("href", SOURCE.url)
    chip = answer(page).get_by_role("button", name="Show source 1")
    await chip.focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Shift+Tab")  # as by keyboard, so that the preview shows
    await expect(page.get_by_role("tooltip")).to_contain_text("환불 규정")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("tooltip")).to_have_count(0)
    await chip.click()
    await expect(page.locator(".place.lit blockquote")).to_have_text("환불 규정")
    await expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("complementary")).to_have_count(0)
    await expect(chip).to_be_focused()


async def test_citation_preview_covers_no_control(page: Page) -> None:
    await page.set_viewport_size({"width": 900, "height": 500})
    await answered(page, "Where does the preview go?")
    await page.keyboard.press("Shift")  # what has the focus next is shown as such
    marker = answer(page).get_by_role("button", name="Show source 1")
    await marker.focus()
    bar, at, preview = [await it.bounding_box() for it in (page.locator("#top"), marker, page.get_by_role("tooltip"))]
    assert bar
    assert at
    assert preview
    assert preview["y"] >= bar["y"] + bar["height"]
    assert preview["y"] >= at["y"] + at["height"] or preview["y"] + preview["height"] <= at["y"]


async def test_headings_and_bold_words_are_rendered(page: Page) -> None:
    await answered(page, "## The conclusion\n\n1. **House rules** 2 * 3 ** 4 [1].")
    await expect(answer(page).locator("strong, h4")).to_have_text(["The conclusion", "House rules"])
    await expect(answer(page).get_by_role("heading", level=4)).to_have_text("The conclusion")
    await expect(answer(page).get_by_role("listitem")).to_have_text("House rules 2 * 3 ** 4 1. 1")


async def test_code_is_shown_as_code(page: Page) -> None:
    await answered(page, "Run `a[1]` **now**:\n\n```bash\n**make** a[1]\n\nmake b\n```\n\nDone")
    await expect(answer(page).locator("pre code")).to_have_text("**make** a[1]\n\nmake b\n", use_inner_text=True)
    await expect(answer(page).locator("p > code")).to_have_text("a[1]")
    assert await answer(page).locator("button.cite").count() == 1


async def test_citation_shows_headings_and_cell_lines(page: Page, pipeline: Pipeline) -> None:
    cited = citation(
        1,
        "Plan: Basic | Price: 5 euros",
        url="https://example.org/refunds#fees",
        answer_start=11,
        answer_end=14,
        block="table_row",
        anchor="Fees!A2:B2",
        intro="Fees by plan:",
        headings=("Shop", "Fees"),
    )
    ends = {"outcome": "answered", "answer": "Five euros [1].", "references": (SOURCE,), "citations": (cited,)}
    pipeline.scripts["cite"] = plays("Five euros [1].", **ends)
    await ask(page, "cite the fee")
    quote = page.locator(".sources blockquote")
    await expect(quote.locator("a")).to_have_text("Shop › Fees · Fees!A2:B2")
    await expect(quote.locator("a")).to_have_attribute("href", "https://example.org/refunds#fees")
    await expect(quote.locator(".intro")).to_have_text("Fees by plan:")
    await expect(quote.locator(".cells")).to_have_text("Plan: Basic\nPrice: 5 euros", use_inner_text=True)


async def test_answering_sentence_is_bold(page: Page, pipeline: Pipeline) -> None:
    texts = {1: "🧾 Opened goods stay. Refunds take 14 days. Ask us.", 2: "Plan: Basic | Price: 5 euros | Term: 1 year"}
    bold = {1: "Refunds take 14 days.", 2: "Price: 5 euros"}
    leads = {n: (at := 100 + texts[n].index(words), at + len(words)) for n, words in bold.items()}
    blocks = {1: "prose", 2: "table_row"}
    cited = tuple(citation(n, text, 100, block=blocks[n], lead=leads[n]) for n, text in texts.items())
    ends = {"outcome": "answered", "answer": "…", "references": (SOURCE,), "citations": cited}
    pipeline.scripts["lead"] = plays("Fourteen days [1]. Five euros [2].", **ends)
    await ask(page, "lead me")
    await expect(page.locator(".sources blockquote strong")).to_have_text(["Refunds take 14 days.", "Price: 5 euros"])
    await expect(page.locator(".sources blockquote .words")).to_have_text(texts[1])
    row = page.locator(".sources blockquote .cells")
    await expect(row).to_have_text("Plan: Basic\nPrice: 5 euros\nTerm: 1 year", use_inner_text=True)


async def test_closest_passages_are_no_answer(page: Page) -> None:
    await answered(page, "near enough?")
    await expect(page.locator(".verdict .badge")).to_have_text("closest passages")
    await expect(page.get_by_role("region", name="No sure answer").locator(".answer")).to_have_text("Nothing is sure:")
    await expect(page.locator(".sources-part")).to_be_hidden()
    passages = page.get_by_role("region", name="Closest passages, not an answer").get_by_role("listitem")
    await expect(passages).to_have_count(2)
    first, second = passages.nth(0), passages.nth(1)
    await expect(first.get_by_role("heading", level=4)).to_have_text(NEAR[0].title)
    await expect(first.get_by_role("link")).to_have_attribute("href", NEAR[0].url)
    await expect(first.locator(".path")).to_have_text("refunds")
    await expect(first.locator(".way")).to_have_text("Shop › Refunds · p. 3")
    await expect(first.locator(".words")).to_have_text("👩‍🎓 환불은 14일\nx <b>환불</b> a", use_inner_text=True)
    await expect(first.locator("strong")).to_have_text(["환불", "환불"])
    assert await page.locator(".passages b, .passages .words a, .passages code").count() == 0
    await expect(second.locator(".words")).to_be_hidden()
    await second.get_by_text("file.txt").click()
    await expect(second.locator(".words")).to_be_visible()
    assert await second.get_by_role("link").count() == 0
    await ask(page, "near enough to 환불 and refunds?")
    await expect(page.locator(".turn")).to_have_count(2)
    await done(page)
    best = page.locator(".turn").last.locator(".passages li").first
    await expect(best.locator("mark")).to_have_text("👩‍🎓 환불은 14일", use_inner_text=True)
    await expect(best.locator("mark strong")).to_have_text("환불")
    await expect(best.get_by_text("Not in it:")).to_be_visible()
    assert await second.locator(".words").evaluate("it => getComputedStyle(it).direction") == "rtl"


async def test_passages_below_an_answer_open_on_a_click(page: Page) -> None:
    async def unsure(route: Route) -> None:
        record = await (await route.fetch()).json()
        await route.fulfill(json={**record, "confidence": "low", "nearby": msgspec.to_builtins(NEAR)})

    await page.route(re.compile(r"/v1/runs/\w+$"), unsure)
    await answered(page, "환불은 며칠 안에 되나요?")
    await expect(answer(page)).to_have_text("환불은 며칠 안에 되나요? 1")
    passages = page.get_by_role("region", name="Passages near the question").get_by_role("listitem")
    await expect(passages).to_have_count(2)
    first = passages.first
    await expect(first.locator("summary .way")).to_have_text("Shop › Refunds · p. 3")
    await expect(first.locator(".glimpse")).to_have_text("👩‍🎓 환불은 14일 x <b>환불</b> a", use_inner_text=True)
    await expect(first.locator(".glimpse strong")).to_have_text(["환불", "환불"])
    await expect(first.locator(".words")).to_be_hidden()
    await first.get_by_text(NEAR[0].title).click()
    await expect(first.locator(".words")).to_be_visible()
    await expect(first.locator(".glimpse")).to_be_hidden()


async def test_closest_passages_work_by_keyboard(page: Page) -> None:
    await answered(page, "near enough?")
    await page.locator(".asked").focus()
    await page.keyboard.press("Tab")
    await expect(page.locator(".passages .title").first).to_be_focused()
    await page.get_by_label("Language").select_option("ar")
    await expect(page.locator(".passages-part h3")).to_have_text("أقرب المقاطع، وليست إجابة")
    await expect(page.locator(".turn").last.locator(".answer-part h3")).to_have_text("لا إجابة مؤكدة")
    await page.reload()
    await expect(page.locator(".passages li")).to_have_count(2)
    await page.locator("#question").fill("something else")
    await page.keyboard.press("Enter")
    await expect(answer(page)).to_have_text("something else 1")
    await expect(page.locator(".turn").last.locator(".answer-part h3")).to_have_text("الإجابة")
    assert not await page.locator(".turn").last.locator(".passages-part").is_visible()


async def test_expired_passages_are_read_from_the_record(page: Page, pipeline: Pipeline) -> None:
    ends = {"outcome": "closest", "reason": "no_evidence", "answer": "Nothing is sure:", "passages": NEAR}
    pipeline.scripts["expired"] = plays("", **ends)
    await page.route("**/v1/runs/*/events", lambda route: route.fulfill(status=410, json={"detail": "expired"}))
    await answered(page, "expired question")
    await page.reload()
    await expect(page.locator(".passages li")).to_have_count(2)
    await expect(answer(page)).to_have_text("Nothing is sure:")


async def test_arabic_page_is_right_to_left_and_remembered(page: Page) -> None:
    await page.get_by_label("Language").select_option("ar")
    await expect(page.locator("html")).to_have_attribute("dir", "rtl")
    await expect(page.locator("#ask")).to_have_text("اسأل")
    await page.locator("#question").fill("An English question")
    await page.keyboard.press("Enter")
    await expect(answer(page)).to_have_text("An English question 1")
    boxes = [await page.locator(each).bounding_box() for each in ("h2.asked", ".turn")]
    assert len({box["x"] for box in boxes if box}) == 1  # it begins at the left, as its text does
    await page.reload()
    await expect(page.locator("#ask")).to_have_text("اسأل")


async def test_it_fits_a_narrow_screen(page: Page) -> None:
    await page.set_viewport_size({"width": 320, "height": 640})
    await answered(page, "Averyverylongwordwithoutanyspaces" * 8)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 320


async def test_broken_connection_resumes_without_repetition(page: Page, line: CutProxy, pipeline: Pipeline) -> None:
    broken = asyncio.Event()

    async def halting(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=True)
        pieces = tokens_of("one two three four five six")
        for n, piece in enumerate(pieces):
            if n == len(pieces) // 2:
                await broken.wait()
            await emitter.tokens([piece])
        await pipeline.end(emitter, Settled(outcome="answered", answer="one two three four five six"))

    pipeline.scripts["halting"] = halting
    await ask(page, "halting question")
    await expect(answer(page)).to_contain_text("three")
    async with page.expect_request("**/events") as again:
        line.cut()
    assert (await again.value).headers["last-event-id"]
    broken.set()
    await expect(page.locator("#status")).to_have_text("Done.", timeout=30_000)
    await expect(answer(page)).to_have_text("one two three four five six")


async def test_withheld_sentences_are_shown_with_their_reason(page: Page, pipeline: Pipeline) -> None:
    flag = Flag(kind="fabricated_number", strength="strong", words="30", evidence_n=(1,), why="the evidence says 14")

    async def withholding(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=True)
        await emitter.events(Withheld(content="Refunds take 30 days.", flags=(flag,)))
        await emitter.tokens(tokens_of("Ask the shop."))
        await pipeline.end(emitter, Settled(outcome="answered", answer="Ask the shop."))

    pipeline.scripts["withholding"] = withholding
    await answered(page, "withholding question")
    await expect(answer(page)).to_have_text("Ask the shop.")
    await expect(page.locator(".withheld s")).to_have_text("Refunds take 30 days.")
    await expect(page.locator(".withheld p")).to_have_text("Contains a number that the source does not have: 30")


async def test_unverified_sentence_is_marked_with_its_reason(page: Page, pipeline: Pipeline) -> None:
    pipeline.scripts["doubt"] = doubt
    await answered(page, "doubt this")
    mark = answer(page).get_by_role("img", name="not verified")
    await expect(mark).to_have_count(1)
    assert await mark.evaluate("each => each.previousSibling.textContent.endsWith('.')")
    await expect(answer(page)).to_contain_text("They are quick 1.? Ask the shop.")
    reasons = page.get_by_role("region", name="Not verified: these sentences go beyond their sources")
    await expect(reasons).to_contain_text("They are quick [1].")
    await expect(reasons.locator("p")).to_have_text("Has too little in common with its source quick")
    await page.reload()
    await done(page)
    await expect(mark).to_have_count(1)


async def test_source_shows_its_metadata(page: Page, pipeline: Pipeline) -> None:
    about = About(author="Kim", date="2026-01-31", version="2", recognized=True, saved=True)

    source = msgspec.structs.replace(SOURCE, about=about)
    pipeline.scripts["scanned"] = plays("Yes.", outcome="answered", references=(source,))
    await ask(page, "scanned question")
    await expect(page.locator(".sources li")).to_contain_text("Kim · version 2 · read from a picture")


async def test_controls_and_hidden_characters_are_removed(page: Page, pipeline: Pipeline) -> None:
    """Nor does a text become markup, a link, or bold by the stars of a number that is masked in the document."""
    nasty = "\u202egnp.exe\u202c <img src=x onerror=alert(1)> \x1b[2J\u200b\x9b javascript:alert(1)"
    seen = "gnp.exe <img src=x onerror=alert(1)> [2J javascript:alert(1)"
    told = f"{nasty} 010-****-**** is **bold** [1]"
    source = msgspec.structs.replace(SOURCE, title=nasty, source_id=nasty, url="javascript:alert(1)")
    url = "javascript:alert(1)#x"
    cited = citation(1, nasty, source_id=nasty, title=nasty, url=url, headings=(nasty, nasty))
    ends = {"outcome": "answered", "answer": told, "references": (source,), "citations": (cited,)}
    pipeline.scripts["hostile"] = plays(told, **ends)
    await answered(page, "hostile question")
    await expect(answer(page)).to_have_text(f"{seen} 010-****-**** is bold 1")
    await expect(answer(page).locator("strong, h4")).to_have_text(["bold"])
    item = page.locator(".sources li")
    await expect(item.locator(".title")).to_have_text(seen)
    await expect(item.locator("blockquote .words")).to_have_text(seen)
    assert await page.locator(".turn a:not([data-in]), .turn img").count() == 0
    shown = await page.locator(".turn").inner_text()
    assert not set(shown) & set("\u202e\u202c\x1b\u200b\x9b")
    assert await item.locator(".title").evaluate("it => getComputedStyle(it).unicodeBidi") == "isolate"


async def test_stop_button_ends_the_run(page: Page, pipeline: Pipeline) -> None:
    """Not as an error: the shown text stays and is marked as incomplete, and the focus goes to the next question."""

    pipeline.scripts["endless"] = Halves("on and on and on", half=9)
    await ask(page, "endless question")
    await expect(answer(page)).to_contain_text("on and on")
    await expect(page.get_by_label("Your question")).to_be_focused()
    await expect(page.get_by_label("Your question")).to_have_value("")
    async with page.expect_response(lambda response: response.url.endswith("/cancel")) as cancelled:
        await page.get_by_role("button", name="Stop").click()
    assert (await cancelled.value).ok
    await done(page, "Stopped.")
    await expect(page.locator(".note")).to_have_text("You stopped this answer; what is shown is incomplete.")
    await expect(answer(page)).to_contain_text("on and on")
    await expect(page.get_by_role("alert")).to_have_count(0)
    await expect(page.locator(".verdict")).to_be_hidden()
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await expect(page.get_by_label("Your question")).to_be_focused()


#: Internal words that no reader should meet.
INTERNAL = re.compile(r"clean|caution|low_confidence|refuse\(|fabricated_number|grounding_failed|classify_|sq_1")


@pytest.mark.parametrize("language", ["en", "ar"])
async def test_no_internal_word_is_shown(page: Page, pipeline: Pipeline, language: str) -> None:
    flag = Flag(kind="fabricated_number", strength="strong", words="30", evidence_n=(1,), why="fabricated_number: 14")

    async def judged(pipeline: Pipeline, run_id: str, question: QuestionAsked) -> None:
        emitter = Emitter(pipeline.bus.journal, run_id, everything=True)
        gate = question.question.split()[1]
        refused = gate.startswith("refuse")
        await emitter.aside(StageEvent(stage="classify_intent", lane="sq_1", status="start"))
        await emitter.tokens(tokens_of("Fourteen days."))
        settled = Settled(
            outcome="refused" if refused else "answered",
            reason="grounding_failed" if refused else None,
            answer="Fourteen days.",
            confidence="low",
            re_gate=gate,
            withheld=(WithheldSentence(text="30 days.", flags=(flag,)),),
        )
        await pipeline.end(emitter, settled)

    pipeline.scripts["judged"] = judged
    words = of(language).page
    await page.locator("#ui").select_option(language)
    for n, gate in enumerate(("clean", "caution", "low_confidence", "refuse(grounding)")):
        await page.locator("#question").fill(f"judged {gate}")
        await page.keyboard.press("Enter")
        await expect(page.locator(".turn")).to_have_count(n + 1)
        await done(page, words["words"]["done"])
        shown = await page.locator(".turn").last.inner_text()
        assert not INTERNAL.search(shown.replace(f"judged {gate}", "")), shown
        assert words["flags"]["fabricated_number"] in shown


#: Texts as documents have them, and as they are shown.
QUOTES = {
    "## Fees\n\nBasic costs **5 euros**.": "Fees\nBasic costs 5 euros.",
    "| Plan | Price |\n|---|---:|\n| Basic | 5 |": "Plan · Price\nBasic · 5",
    "> [the shop](https://example.org) says `no`": "the shop says no",
    "2 * 3 ** 4 # 5 | x": "2 * 3 ** 4 # 5 · x",
}


async def test_quotes_are_shown_without_markup(page: Page, pipeline: Pipeline) -> None:
    said = "So it is [1] [2] [3] [4]."
    citations = tuple(citation(at, cited, 100 * at) for at, cited in enumerate(QUOTES, 1))
    ends = {"outcome": "answered", "answer": said, "references": (SOURCE,), "citations": citations}
    pipeline.scripts["quoted"] = plays(said, **ends)
    await ask(page, "quoted marks")
    await expect(page.locator(".sources .words")).to_have_text([*QUOTES.values()], use_inner_text=True)


@pytest.mark.parametrize("scopes", [("ask", "read"), ("ask",)])
async def test_page_asks_for_a_required_key(
    chromium: Browser, pipeline: Pipeline, tmp_path: Path, scopes: tuple[Scope, ...]
) -> None:
    """A key with the scope `ask` alone gets its answers, but not later reads of them."""
    token = KeyFile(tmp_path / "keys.json").add("ann", scopes, now=0)
    async with edge_of(pipeline.bus.settings, tmp_path, access=AccessSettings(required=True)) as address:
        context = await chromium.new_context(locale="en-GB")
        page = await context.new_page()
        await page.goto(address)
        await expect(page.locator("#problem")).to_contain_text("a key is needed")
        await page.get_by_label("Access key").fill(token)
        await answered(page, "How long?")
        await expect(answer(page)).to_have_text("How long? 1")
        await expect(page.get_by_role("alert")).to_have_count(0)
        reads = "read" in scopes
        await expect(page.get_by_role("link", name="How this was answered")).to_have_count(int(reads))
        await expect(page.get_by_role("navigation").get_by_role("link", name="How long?")).to_have_count(int(reads))
        if reads:
            await page.reload()  # as long as the tab is open
            await done(page)
            await expect(page.get_by_label("Access key")).to_be_hidden()
        await context.close()
