"""The page's files: one document that loads its own modules and styles alone, with texts in every language."""

import re
from typing import get_args

import aiohttp
import pytest

from actors.pipeline import ACTORS
from bus.powers.events import EVENT_TYPES
from index.languages import LANGUAGES
from prompts.vocabulary import FlagKind, Outcome
from runtime.edge.page.document import DIGEST, DOCUMENT, FILES, HERE, POLICY, words

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
