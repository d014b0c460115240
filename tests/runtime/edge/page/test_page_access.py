"""Accessibility of the page by axe, the keyboard alone, narrow, dark, in print; and the files that it loads."""

import re
from typing import get_args

import aiohttp
import pytest
from playwright.async_api import Browser, Page, expect

from actors.pipeline import ACTORS
from bus.powers.events import EVENT_TYPES
from index.languages import LANGUAGES, of
from index.languages.characters import FROM_RIGHT
from prompts.vocabulary import FlagKind, Outcome
from runtime.edge.page.document import DIGEST, DOCUMENT, FILES, HERE, POLICY, words
from tests.clients.axe import findings
from tests.clients.cutting import CutProxy
from tests.clients.table import Checker
from tests.runtime.edge.citing import doubt
from tests.runtime.edge.conftest import Pipeline
from tests.runtime.edge.page.conftest import answered, done

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
async def test_axe_finds_nothing(
    chromium: Browser, line: CutProxy, pipeline: Pipeline, language: str, width: int, scheme: str
) -> None:
    pipeline.scripts["doubt"] = doubt
    context = await chromium.new_context(
        locale=language,
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        viewport={"width": width, "height": 900},
    )
    page = await context.new_page()
    await page.goto(line.address)
    words = of(language).page["words"]
    await expect(page.locator("#ask")).to_have_text(words["ask"])
    found = {"empty": await findings(page)}
    for n, question in enumerate(("near enough?", "doubt this?", "How long?"), 1):
        await page.locator("#question").fill(question)
        await page.keyboard.press("Enter")
        await expect(page.locator(".turn")).to_have_count(n)
        await done(page, words["done"])
    await expect(page.locator(".doubt")).to_have_attribute("aria-label", words["unverified_mark"])
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
    await answered(page, "One word after another comes in")
    assert await page.evaluate("window.heard") == ["Working…", "Done."]
    live = await page.locator("[aria-live], [role=status], [role=alert]").evaluate_all(
        "all => all.map(each => each.id)"
    )
    assert live == ["status", "problem"]


async def test_printout_has_the_conversation_alone(page: Page) -> None:
    await answered(page, "Print me")
    await page.emulate_media(media="print")
    await expect(page.locator(".answer")).to_be_visible()
    await expect(page.locator(".sources .card")).to_be_visible()
    for hidden in ("#top", "#past", "#form", ".actions"):
        await expect(page.locator(hidden)).to_be_hidden()


async def test_source_covers_a_narrow_page(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await answered(page, "Narrow")
    await page.locator(".answer .cite").click()
    panel = await page.locator("#panel").bounding_box()
    assert panel is not None
    assert (panel["x"], panel["y"], panel["width"], panel["height"]) == (0, 0, 390, 844)
    assert await page.evaluate("['top', 'past', 'main'].every(id => document.getElementById(id).inert)")
    await page.get_by_role("button", name="Close").click()
    assert not await page.evaluate("document.getElementById('main').inert")
    await expect(page.locator(".answer .cite")).to_be_focused()


TEXT = DOCUMENT.decode()
SCRIPTS = {name: data.decode() for name, data in FILES.items() if name.endswith(".js") and name != "words.js"}
#: The first argument of a call, with calls in it.
_ARGUMENT = r"(?:[^(),]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+"


@pytest.mark.parametrize("path", ["/", "/documents", "/conversations/some-run", "/runs/some-run"])
async def test_document_is_revalidated_each_time(http: aiohttp.ClientSession, path: str) -> None:
    async with http.get(path) as response:
        assert (response.status, response.content_type, response.charset) == (200, "text/html", "utf-8")
        assert await response.read() == DOCUMENT
        assert response.headers["Cache-Control"] == "no-cache"
        assert response.headers["Content-Security-Policy"] == POLICY
        tag = response.headers["ETag"]
    async with http.get(path, headers={"If-None-Match": tag}) as response:
        assert (response.status, await response.read()) == (304, b"")


@pytest.mark.parametrize("name", FILES)
async def test_digest_named_file_is_cached_for_ever(http: aiohttp.ClientSession, name: str) -> None:
    async with http.get(f"/page/{DIGEST}/{name}") as response:
        assert response.status == 200
        assert response.content_type == ("text/css" if name.endswith(".css") else "text/javascript")
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert await response.read() == FILES[name]


@pytest.mark.parametrize("path", [f"/page/{'0' * 16}/main.js", f"/page/{DIGEST}/__init__.py", f"/page/{DIGEST}/x.js"])
async def test_file_of_another_page_is_not_found(http: aiohttp.ClientSession, path: str) -> None:
    async with http.get(path) as response:
        assert response.status == 404


def test_the_policy_lets_nothing_inline_run() -> None:
    assert not re.search("unsafe|sha256|nonce|data:|https?:", POLICY)
    for held in (
        "default-src 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "base-uri 'none'",
    ):
        assert held in POLICY
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", TEXT)


def test_it_takes_nothing_from_elsewhere() -> None:
    assert set(re.findall(r"""(?:src|href)="([^"]*)""", TEXT)) == {
        "/",
        "/documents",
        "#question",
        *(f"/page/{DIGEST}/{name}" for name in FILES if name.endswith(".css") or name == "main.js"),
    }
    for name, script in SCRIPTS.items():
        assert {f"{each}.js" for each in re.findall(r'from "\./([\w-]+)\.js"', script)} <= FILES.keys(), name
        assert not re.search(r'from "[^.]|import\(', script), name


def test_text_enters_the_page_by_one_function() -> None:
    """What sets a text anywhere else takes our own words; nothing takes markup or code."""
    for name, script in SCRIPTS.items():
        assert not re.search(
            r"\b(innerHTML|outerHTML|insertAdjacentHTML|srcdoc|eval|Function|DOMParser)\b|document\.write", script
        ), name
        written = set(re.findall(r"\.textContent *=(?!=) *([^;]*);", script))
        assert written <= ({"text"} if name == "speech.js" else set()), name
        strings = [each for each in re.findall(r"\.append\(([^)]*)\)", script) if each.strip('"') != each]
        assert all(re.fullmatch(r'"\W*"', each) for each in strings), name
    assert "box.append(clean(text))" in SCRIPTS["dom.js"]


def test_every_module_is_small() -> None:
    lengths = {
        path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in HERE.iterdir() if path.is_file()
    }
    assert {name: length for name, length in lengths.items() if length > 250} == {}


def test_every_language_has_every_word_of_the_page() -> None:
    spoken = words()
    assert tuple(spoken) == LANGUAGES
    assert {language for language, there in spoken.items() if there["direction"] == "rtl"} == {"ar"}
    assert spoken["fr"]["name"] == "Français"
    every = "\n".join(SCRIPTS.values())
    said = set(re.findall(r'data-t(?:-label)?="(\w+)"', TEXT))
    said |= set(re.findall(r'\b(?:word|fact|copies|choice|action)\("(\w+)"', every))
    said |= set(re.findall(rf'\bsay\({_ARGUMENT}, "(\w+)"', every))
    assert said <= spoken["en"].keys(), said - spoken["en"].keys()
    unsaid = {key for key in spoken["en"] if not re.search(rf'["`?: ]{key}["}} ,;).]', every + TEXT)}
    assert unsaid - {*get_args(Outcome), "high", "medium", "low", "name", "direction"} == set()


def test_every_flag_stage_and_event_has_words() -> None:
    spoken = words()["en"]
    flags, stages = spoken["flags"], spoken["stages"]
    assert isinstance(flags, dict)
    assert isinstance(stages, dict)
    assert flags.keys() == {*get_args(FlagKind), "other"}
    names = {each.name for each in ACTORS}
    assert stages.keys() == {*names, "other"}
    shown = set(re.findall(r'case "(\w+)":', SCRIPTS["turn.js"])) | set(
        re.findall(r'event\.type === "(\w+)"', SCRIPTS["api.js"])
    )
    assert shown == {str(event.__struct_config__.tag) for event in EVENT_TYPES}
