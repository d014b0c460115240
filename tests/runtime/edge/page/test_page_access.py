"""Accessibility of the page: axe on each view in each language, the keyboard alone, narrow, dark, in print."""

import pytest
from playwright.async_api import Browser, Page, expect

from index.languages import LANGUAGES, of
from index.languages.scripts import FROM_RIGHT
from tests.clients.axe import findings
from tests.clients.table import Checker
from tests.runtime.edge.page.conftest import Line, ask, done

CHECKERS = (
    Checker(
        name="axe",
        package="axe-core",
        pins="node/axe",
        checks="the accessibility of the page, in six languages",
        tests="test_axe",
    ),
)

#: Each language in one of the two forms, and those that read from the right in both.
FORMS = ((1400, "light"), (390, "dark"))
SEEN = [
    (language, *form)
    for n, language in enumerate(LANGUAGES)
    for m, form in enumerate(FORMS)
    if n % 2 == m or of(language).identity.script in FROM_RIGHT
]


@pytest.mark.parametrize(("language", "width", "scheme"), SEEN)
async def test_axe_finds_nothing(chromium: Browser, line: Line, language: str, width: int, scheme: str) -> None:
    context = await chromium.new_context(
        locale=language,
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        viewport={"width": width, "height": 900},
    )
    page = await context.new_page()
    await page.goto(line.address)
    words = of(language).page
    await expect(page.locator("#ask")).to_have_text(words.ask)
    found = {"empty": await findings(page)}
    await page.locator("#question").fill("near enough?")
    await page.keyboard.press("Enter")
    await done(page, words.done)
    await page.locator("#question").fill("How long?")
    await page.keyboard.press("Enter")
    await expect(page.locator(".turn")).to_have_count(2)
    await done(page, words.done)
    if width < 1000:  # else the source is next to it
        found["conversation"] = await findings(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await page.locator(".answer .cite").last.click()
    await expect(page.locator("#panel")).to_be_visible()
    found["source"] = await findings(page)
    await page.keyboard.press("Escape")
    if width < 1000:
        await page.locator("#menu").click()
        await expect(page.locator("#past")).to_be_visible()
        found["list"] = await findings(page)
        await page.keyboard.press("Escape")
        await expect(page.locator("#past")).to_be_hidden()
    await page.locator(".actions a").last.click()
    stage = page.locator(".waterfall details").first
    await stage.locator("summary").first.click()
    await expect(stage.locator("pre").first).to_be_attached()
    for fold in await stage.locator(".fold > summary").all():
        await fold.click()
    found["run"] = await findings(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await context.close()
    assert {view: each for view, each in found.items() if each} == {}


async def test_all_can_be_done_by_keyboard(page: Page) -> None:
    await expect(page.get_by_label("Your question")).to_be_focused()
    await page.get_by_role("link", name="Skip to the question").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Your question")).to_be_focused()
    await page.keyboard.type("By keyboard")
    await page.keyboard.press("Enter")
    await done(page)
    await expect(page.get_by_label("Your question")).to_be_focused()
    for _ in range(20):
        await page.keyboard.press("Shift+Tab")
        if await page.evaluate("document.activeElement.matches('.answer .cite')"):
            break
    await expect(page.get_by_role("tooltip")).to_contain_text("환불 규정")
    await page.keyboard.press("Enter")
    await expect(page.locator("#panel-title")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("#panel")).to_be_hidden()
    await expect(page.locator(".answer .cite")).to_be_focused()


async def test_screen_reader_hears_states_not_words(page: Page) -> None:
    await done(page, "Ready.")
    await page.evaluate(
        """() => { window.heard = []; const status = document.getElementById("status");
        new MutationObserver(() => window.heard.push(status.textContent)).observe(status, { childList: true }); }"""
    )
    await ask(page, "One word after another comes in")
    await done(page)
    assert await page.evaluate("window.heard") == ["Working…", "Done."]
    live = await page.locator("[aria-live], [role=status], [role=alert]").evaluate_all(
        "all => all.map(each => each.id)"
    )
    assert live == ["status", "problem"]


async def test_printout_has_the_conversation_alone(page: Page) -> None:
    await ask(page, "Print me")
    await done(page)
    await page.emulate_media(media="print")
    await expect(page.locator(".answer")).to_be_visible()
    await expect(page.locator(".sources .card")).to_be_visible()
    for hidden in ("#top", "#past", "#form", ".actions"):
        await expect(page.locator(hidden)).to_be_hidden()


async def test_source_covers_a_narrow_page(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await ask(page, "Narrow")
    await done(page)
    await page.locator(".answer .cite").click()
    panel = await page.locator("#panel").bounding_box()
    assert panel is not None
    assert (panel["x"], panel["y"], panel["width"], panel["height"]) == (0, 0, 390, 844)
    assert await page.evaluate("['top', 'past', 'main'].every(id => document.getElementById(id).inert)")
    await page.get_by_role("button", name="Close").click()
    assert not await page.evaluate("document.getElementById('main').inert")
    await expect(page.locator(".answer .cite")).to_be_focused()
