"""`groundwire check` against given files: exit codes, the terminal, SARIF and the page."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runtime.cli import groundwire

RULES = "# Leave\n\nAward leave expires one year after it is issued. Staff have 20 days of annual leave each year.\n"
TEXT = """# Summary

Staff have 20 days of annual leave each year.
Award leave expires **two years** after it is issued. Award leave is announced by the choir.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rules.md").write_text(RULES)
    (tmp_path / "text.md").write_text(TEXT)
    (tmp_path / "right.md").write_text(TEXT.replace("two years", "one year"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(groundwire, ["check", *arguments], standalone_mode=False)


@pytest.mark.parametrize(
    ("file", "fail_on", "code"),
    [
        ("text.md", "contradicted", 3),
        ("right.md", "contradicted", 0),
        ("right.md", "unverified", 3),
        ("rules.md", "not_covered", 0),
    ],
)
@pytest.mark.usefixtures("folder")
def test_exit_codes(file: str, fail_on: str, code: int) -> None:
    assert run(file, "--context", "rules.md", "--fail-on", fail_on).return_value == code


@pytest.mark.usefixtures("folder")
def test_terminal_shows_both_sides() -> None:
    result = run("text.md", "--context", "rules.md")
    output = result.stdout
    assert result.stderr == "exit code 3: a sentence is contradicted (--fail-on contradicted)\n"
    assert "contradicted  text.md:4" in output
    assert "> Award leave expires one year after it is issued." in output
    assert output.endswith("1 verified, 1 contradicted, 1 unverified, 0 not covered, 1 no claim\n")


@pytest.mark.usefixtures("folder")
def test_terminal_begins_with_the_worst() -> None:
    Path("text.md").write_text(f"Penguins huddle together in blizzards.\n\n{TEXT}")
    lines = run("text.md", "--context", "rules.md").stdout.splitlines()
    shown = [line for line in lines if "text.md:" in line]
    assert shown == ["contradicted  text.md:6", "unverified  text.md:6", "not covered  text.md:1"]


def test_sarif_places_findings(folder: Path) -> None:
    run("text.md", "--context", "rules.md", "--sarif", "out.sarif")
    log = json.loads((folder / "out.sarif").read_bytes())
    wrong, weak = log["runs"][0]["results"]
    assert [(each["ruleId"], each["level"]) for each in (wrong, weak)] == [
        ("contradicted", "error"),
        ("unverified", "warning"),
    ]
    place = wrong["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "text.md"}
    region = place["region"]
    line = TEXT.split("\n")[region["startLine"] - 1]
    found = line[region["startColumn"] - 1 : region["endColumn"] - 1]
    assert found == "Award leave expires **two years** after it is issued."
    assert wrong["relatedLocations"][0]["physicalLocation"]["region"]["snippet"]["text"] in RULES


def test_page_stands_alone(folder: Path) -> None:
    run("text.md", "--context", "rules.md", "--html", "out.html")
    page = (folder / "out.html").read_text()
    assert "<mark>two</mark>" in page
    assert "<mark>one</mark>" in page
    assert not re.search(r"<script|<link|<img|src=|url\(|@import", page)
    assert set(re.findall(r'href="#(\w+)"', page)) <= set(re.findall(r'id="(\w+)"', page))


def test_page_reads_from_right(folder: Path) -> None:
    (folder / "text.md").write_text("يحق للموظف عشرون يوما من الإجازة <b>كل سنة</b>.\n")
    run("text.md", "--context", "rules.md", "--html", "out.html")
    page = (folder / "out.html").read_text()
    assert '<html lang="ar" dir="rtl">' in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["text.md"], "say what to ask"),
        (["text.md", "--context", "rules.md", "--index", "."], "--context takes the place of an index"),
        (["paper.tex", "--context", "rules.md"], "LaTeX; index the PDF that it makes"),
        (["text.md", "--context", "paper.tex"], "a --context cannot be read: LaTeX"),
    ],
)
def test_unusable_arguments(folder: Path, arguments: list[str], line: str) -> None:
    (folder / "paper.tex").write_text("x")
    assert line in str(run(*arguments).exception)
