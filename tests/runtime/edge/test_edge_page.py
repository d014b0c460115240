"""The page: self-contained, with its texts in every language."""

import base64
import hashlib
import json
import re

import aiohttp

from bus.events import EVENT_TYPES
from index.languages import LANGUAGES
from runtime.edge.page import HEADERS, PAGE

TEXT = PAGE.decode()


async def test_it_is_served_under_a_policy_that_lets_its_own_script_run(http: aiohttp.ClientSession) -> None:
    async with http.get("/") as response:
        assert (response.status, response.content_type, response.charset) == (200, "text/html", "utf-8")
        assert await response.read() == PAGE
        policy = response.headers["Content-Security-Policy"]
    for tag in ("script", "style"):
        (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", TEXT, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_it_takes_nothing_from_elsewhere() -> None:
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#)""", TEXT)
    assert not re.findall(r"https?://(?!i\.test)\w", TEXT)
    assert "innerHTML" not in TEXT  # what documents say is text, never markup


def test_texts_get_into_the_page_in_one_place() -> None:
    """What sets a text anywhere else takes our own words; nothing takes markup or code."""
    (script,) = re.findall(r"<script>(.*?)</script>", TEXT, re.DOTALL)
    outside = "\n".join(line for line in script.splitlines() if not line.startswith("function put("))
    assert set(re.findall(r"\.append\(([^)]*)\)", outside)) <= {"made", '" "', "option"}
    assert set(re.findall(r"\.textContent *=(?!=) *([^;]*);", outside)) == {
        "words[each.dataset.t]",
        'key ? words[key] : ""',
        'words[$("answer-title").dataset.t]',
    }
    assert not re.search(
        r"\b(innerHTML|outerHTML|insertAdjacentHTML|srcdoc|eval|Function|DOMParser)\b|document\.write", script
    )
    for held in (
        "default-src 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "base-uri 'none'",
    ):
        assert held in HEADERS["Content-Security-Policy"]
    assert (HEADERS["X-Content-Type-Options"], HEADERS["Referrer-Policy"]) == ("nosniff", "no-referrer")


def test_every_language_is_on_the_page_with_its_name_and_direction() -> None:
    (spoken,) = re.findall(r"^const WORDS = (.*);$", TEXT, re.MULTILINE)
    words = json.loads(spoken)
    assert tuple(words) == LANGUAGES
    assert {language for language, there in words.items() if there["direction"] == "rtl"} == {"ar"}
    assert words["fr"]["name"] == "Français"
    asked_for = set(re.findall(r'data-t="(\w+)"', TEXT)) | set(re.findall(r"\bwords\.(\w+)", TEXT))
    assert asked_for <= words["en"].keys()


def test_every_event_type_has_its_place_on_the_page() -> None:
    (show,) = re.findall(r"^const SHOW = \{\n(.*?)^\};", TEXT, re.DOTALL | re.MULTILINE)
    shown = set(re.findall(r"^  (\w+)\(event\) \{", show, re.MULTILINE)) | set(
        re.findall(r'event\.type === "(\w+)"', TEXT)
    )
    assert shown == {str(event.__struct_config__.tag) for event in EVENT_TYPES}


def test_what_is_typed_and_read_has_a_label() -> None:
    fields = re.findall(r"<(?:select|textarea|input) id=\"(\w+)\"", TEXT)
    assert fields
    assert set(fields) == set(re.findall(r"<label for=\"(\w+)\"", TEXT))
