"""What the README and the guides say holds: their commands exist, their links lead somewhere, the site builds without a warning."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from runtime.cli import groundwire
from tests.readme_tables import ROOT
from tests.runtime.served import ROUTES

PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
INLINE = re.compile(r"`((?:uv run )?groundwire [a-z][^`<{]*)`")
BLOCK = re.compile(r"^ {4}(?:\w+=\S+ (?:\\\n\s+)?)*uv run groundwire (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def commands() -> Iterator[tuple[str, str]]:
    """Each page's name with a command line on it, without `groundwire`."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in (*BLOCK.findall(text), *INLINE.findall(text)):
            line = found.partition("  #")[0].removeprefix("uv run ").removeprefix("groundwire ")
            yield page.name, line.replace("…", "").strip()


@pytest.mark.parametrize(("page", "line"), sorted(set(commands())))
def test_documented_options_exist(page: str, line: str) -> None:
    words = shlex.split(line)
    command: click.Command = groundwire
    context = click.Context(groundwire, info_name="groundwire")
    while words and isinstance(command, click.Group):
        if words[0].startswith("-") or not words[0].isalpha():
            break
        found = command.get_command(context, words[0])
        assert found is not None, f"{page}: there is no command {words[0]!r} in `groundwire {line}`"
        command, words = found, words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    shown = {word.partition("=")[0] for word in words if word.startswith("-")}
    assert shown <= known | {"-h", "--help", "-"}, f"{page}: `groundwire {line}`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_leads_to_a_file(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_named_file_exists(page: Path) -> None:
    written = re.sub(r"<!-- generated.*?<!-- end -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    paths = re.findall(r"`((?:actors|bus|docs|index|prompts|runtime|tests)/[\w./-]*)`", written)
    assert [path for path in paths if not any((root / path).exists() for root in (ROOT, ROOT / "tests"))] == []


def test_each_promise_has_its_test() -> None:
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_/]+\.py)(?:::(test_\w+))?`", text)
    assert named
    for path, test in named:
        file = ROOT / "tests" / path
        assert file.exists(), path
        assert f"def {test}(" in file.read_text(encoding="utf-8") if test else True, f"{path}::{test}"


def test_every_route_is_in_the_table_with_its_scope() -> None:
    """But for the files of the pages; a path's parameter may have another name there."""
    table = (ROOT / "docs" / "http.md").read_text(encoding="utf-8").partition("\n## ")[0]
    told: dict[str, str] = {}
    for paths, scopes in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", table, re.MULTILINE):
        routes, needs = re.findall(r"`(\w+ /[^`]*)`", paths), scopes.split(", ")
        told |= dict(zip(routes, needs if len(needs) == len(routes) else [scopes] * len(routes), strict=True))
    served = {
        re.sub(r"\{\w+\}", "{}", f"{route.method} {route.path}"): route.scope
        for route in ROUTES
        if not re.search(r"\.(css|js|ico)$|^/page/", route.path)
    }
    named = {re.sub(r"\{\w+\}", "{}", route): scope for route, scope in told.items()}
    assert named.keys() == served.keys()
    wrong = [route for route, scope in served.items() if not re.match(rf"{scope}\b", named[route])]
    assert wrong == ["GET /v1/ws"]  # its frames need what they ask for


def test_every_guide_is_in_the_menu() -> None:
    menu = set(re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert menu == {page.name for page in (ROOT / "docs").glob("*.md")}


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "index.html").exists()
