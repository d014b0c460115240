"""What a document, a question or the name of a file holds never steers the terminal, nor breaks a command that prints it."""

import contextlib
import io
import json
import logging
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from runtime.commands.consoles import plain_console
from runtime.terminal import Bold, OneLine, escaped, fit, json_line, one_line, say, say_json, styled

ROOT = Path(__file__).parent.parent.parent

#: Each would clear, move, hide, link, colour, restyle, reorder or break the output around it.
NASTY = (
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1bP+q\x1b\\",
    "\x9b2J",
    "\x9d8;;https://evil.example\x9c",
    "\x85",
    "safe\rover",
    "safe\x08\x08\x08\x08over",
    "\x00\x07\x0b\x0c\x0e\x0f\x7f",
    "\u202egnp.exe\u202c",
    "\u2066\u2067\u2068\u2069\u202a\u202b\u202d",
    "\u200b\u2060\u00ad\u200e\u200f\u061c\ufeff",
    "".join(chr(0xE0000 + ord(letter)) for letter in "obey me"),
    "\u200d\u200c\u200d\u200d\u200c",
    "\u2028\u2029\u001c\u001d\u001e\u001f",
    "a" + "\u0301" * 10_000,
    "\udc80\udcff\ud800",
    "[/nope]",
    "[bold]",
    "[link=https://evil.example]x[/link]",
    ":smile:",
    "\\[red]",
    "\t",
    "\n",
    " ",
    "plain",
    "환불",
    "نمی\u200cخواهم",
    "👩🏽\u200d💻",
    "❤\ufe0f\u200d🔥",
    "क\u094d\u200dष",
)
TEXTS = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=5)), max_size=8).map("".join)

#: What no output may hold: of control characters all but newline and tab, breaks of lines, what turns the order, halves of pairs.
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)
OURS = re.compile("\x1b\\[[0-9;]*m")


@given(TEXTS)
def test_sanitised_text_is_harmless_and_stable(text: str) -> None:
    fitted = fit(text)
    assert not FORBIDDEN.search(fitted)
    assert fit(fitted) == fitted
    assert not re.search("[\u0300-\u036f]{9}", fitted)
    assert "\n" not in one_line(text)
    assert "\t" not in one_line(text)


@given(TEXTS)
def test_log_and_json_lines_stay_complete_lines(text: str) -> None:
    assert not FORBIDDEN.search(escaped(text))
    assert "\n" not in escaped(text)
    value = {"text": text.encode("utf-8", "replace").decode()}
    line = json_line(json.dumps(value, ensure_ascii=False).encode())
    assert not FORBIDDEN.search(line)
    assert json.loads(line) == value


@settings(max_examples=40)
@given(TEXTS, TEXTS)
def test_console_prints_no_markup_or_controls(first: str, second: str) -> None:
    console = plain_console(width=60)
    console.file = io.StringIO()
    table = Table(first, title=first, caption=second)
    table.add_row(second)
    table.add_row(Text(first, style="red"))
    console.print(first, second, markup=True, emoji=True, highlight=True)
    console.print(table)
    console.print(Text(second, style="bold"), Text.assemble(("ours", "dim"), first))
    with console.status(first) as status:
        status.update(second)
    assert not FORBIDDEN.search(console.file.getvalue())


def test_brackets_and_emoji_codes_are_printed_literally() -> None:
    console = plain_console(width=80)
    console.file = io.StringIO()
    for line in ("pages/[en]/guide.md", "[/b].md :smile: [bold]", "a" * 90):
        console.print(line, soft_wrap=True)
    assert console.file.getvalue().splitlines() == ["pages/[en]/guide.md", "[/b].md :smile: [bold]", "a" * 90]


def test_columns_stay_straight() -> None:
    console = plain_console(width=60)
    console.file = io.StringIO()
    table = Table("name", "value")
    table.add_row("\x1b[2J\u202eabc\u200b", "1")
    table.add_row("[2Jabc", "1")
    console.print(table)
    rows = console.file.getvalue().splitlines()
    assert rows[3] == rows[4]


def test_what_scripts_and_emoji_need_stays() -> None:
    for text in (
        "نمی\u200cخواهم",
        "👩🏽\u200d💻 and 👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "क\u094d\u200dष",
        "ที่นี่",
        "a\tb\nc",
    ):
        assert fit(text) == text
    assert fit("pass\u200dword") == "password"
    assert fit("one\r\ntwo\rthree\u2028four") == "one\ntwo three four"


def test_bold_is_ours_alone() -> None:
    assert styled("a\x1b[1m", Bold("b\x1b[0m[bold]")) == "a[1m\x1b[1mb[0m[bold]\x1b[0m"


def test_say_prints_to_either_stream(capsys: pytest.CaptureFixture[str]) -> None:
    say("to\x1b[2J", "gether")
    say("wrong\x9b", err=True, nl=False)
    say_json({"a": "\x9b\u202e"})
    assert capsys.readouterr() == ('to[2Jgether\n{"a":"\\u009b\\u202e"}\n', "wrong")


def test_a_log_line_cannot_be_forged() -> None:
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    handler.setFormatter(OneLine("edge %(levelname)s: %(message)s"))
    forged = "x\nedge ERROR: all is lost\x1b[2J\u202e"
    try:
        raise ValueError(forged)
    except ValueError:
        record = logging.LogRecord("n", logging.WARNING, "f", 1, "asked: %s", (forged,), sys.exc_info())
    handler.emit(record)
    lines = said.getvalue().splitlines()
    assert lines[0] == "edge WARNING: asked: x\\nedge ERROR: all is lost\\u001b[2J\\u202e"
    assert all(line.startswith("  ") for line in lines[1:])
    assert not FORBIDDEN.search(said.getvalue())


WARNED = """
import logging, sys
from runtime.cli import main
from runtime.commands import graph
graph.say = lambda text: logging.getLogger("x").warning("a\\x1b[2J\\nerror: b")
sys.argv = ["groundwire", "graph"]
main()
"""


def test_command_warning_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """A command sets up no log; what its libraries and ours warn of is printed by the last resort of logging."""
    subprocess.run([sys.executable, "-c", WARNED], cwd=ROOT, check=False)
    assert capfd.readouterr().err == "a\\u001b[2J\\nerror: b\n"


QUESTION = "When does the gate open? [/nope] [bold] :smile: \u202e\u200b\u00e9" + "\u0301" * 500
EVIL = "\x1b[2J\x1b]8;;https://evil.example\x07\x9b31m\u202e\u2066[/nope][bold]:smile:\x08\r\u200b"


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="groundwire-printed-") as name:
        folder = Path(name)
        docs = folder / "docs 👩\u200d💻"
        docs.mkdir()
        (docs / f"gate{EVIL.replace('/', '')}.md").write_text(
            f"# Gate {EVIL}\n\nThe gate opens at six {EVIL} o'clock.\n"
        )
        (docs / "[en] [bold].md").write_text(
            f"# The gate [/nope]\n\nThe gate {EVIL} opens at six. {'e' + chr(0x301) * 900}\n"
        )
        with contextlib.suppress(OSError):
            (docs / os.fsdecode(b"broken\xff.md")).write_text("# Broken\n\nThe gate has a name that is not UTF-8.\n")
        record = {
            "source_id": "👩\u200d💻-[/x]",
            "title": f"T{EVIL}",
            "text": f"The gate opens at six. {EVIL}",
            "author": EVIL,
        }
        (docs / "records.jsonl").write_text(
            json.dumps(record) + "\n" + json.dumps({"source_id": "a\x1b[2J", "text": "x"}) + "\n{\x1b[2J\n"
        )
        yield folder


#: Runs commands, each a list of its words, in one process with a terminal as its streams, and keeps their exit statuses.
RUN = """
import json, sys
from pathlib import Path
from runtime.cli import main
commands, statuses = json.loads(sys.argv[1]), []
place = Path(sys.argv[2])
for words in commands:
    sys.argv = ["groundwire", *words]
    try:
        main()
    except SystemExit as leaving:
        statuses.append(leaving.code)
    except BaseException as error:
        statuses.append(repr(error))
place.write_text(json.dumps(statuses))
"""


def printed(folder: Path, *commands: tuple[str, ...]) -> tuple[str, list[object]]:
    """What the commands print on a terminal, and how each ended."""
    ours, theirs = pty.openpty()
    statuses = folder / "statuses.json"
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(commands), str(statuses)],
        cwd=ROOT,
        env={**os.environ, "GROUNDWIRE_STATE": str(folder / "state"), "COLUMNS": "120", "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    pieces: list[bytes] = []
    with contextlib.suppress(OSError):  # the end of a terminal with a closed other side
        while piece := os.read(ours, 65536):
            pieces.append(piece)
    os.close(ours)
    told = b"".join(pieces).decode()
    assert child.wait() == 0, told
    assert "Traceback" not in told, told
    return told.replace("\r\n", "\n"), json.loads(statuses.read_text())


#: Controls of our own bars and spinners: to hide and show the cursor, to go up, to clear their own line.
BARS = re.compile("\x1b\\[(\\?25[lh]|1A|2K)|\r")


def assert_fit(told: str) -> None:
    found = FORBIDDEN.search(OURS.sub("", BARS.sub("", told)))
    assert found is None, (found, told[max(0, found.start() - 60) : found.end() + 60])
    assert not re.search("[\u0300-\u036f]{9}", told)


def test_no_command_prints_terminal_controls(place: Path) -> None:
    docs, index = next(place.glob("docs*")), str(place / "index")
    gate, records = str(next(docs.glob("gate*"))), str(docs / "records.jsonl")
    told, statuses = printed(
        place,
        ("index", "build", str(docs), "--index", index),
        ("index", "list", "--index", index),
        ("index", "list", "--index", index, "--json"),
        ("index", "verify", "--index", index),
        ("index", "stats", "--index", index),
        ("index", "show", gate),
        ("index", "show", gate, "--passages"),
        ("index", "show", records, "--json"),
        ("index", "show", gate + EVIL.replace("/", "")),
        ("search", "--index", index, "the gate opens"),
        ("search", "--index", index, "--json", "the gate opens"),
        ("search", "--index", index + EVIL, "x"),
        ("profiles", "show", EVIL),
    )
    assert_fit(told)
    assert statuses == [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2]
    assert "none of them a control character" in told  # the record that is refused is named
    assert "👩\u200d💻-[/x]" in told

    asked, statuses = printed(
        place,
        ("ask", "--index", index, "--timings", QUESTION),
        ("ask", "--index", index, "--json", QUESTION),
        ("ask", "--index", index, f"{QUESTION}\u009b2J"),
        ("trace", "list", "--index", index),
        ("trace", "list", "--json", "--index", index),
    )
    assert_fit(asked)
    assert set(statuses[:2] + statuses[3:]) <= {0, 3}
    assert statuses[2] == 2  # a control character is refused by name
    assert "U+009B" in asked
    assert "[/nope]" in asked
    runs = re.findall('{"run_id":"([0-9a-f]+)"', asked)
    assert len(runs) == 2
    kept, statuses = printed(
        place,
        ("trace", "show", runs[0], "--index", index),
        ("trace", "export", "--out", "-", runs[0], "--index", index),
        ("trace", "export", "--out", str(place / "run.jsonl"), runs[0], "--index", index),
        ("diff", runs[0], runs[1], "--index", index),
        ("replay", str(place / "run.jsonl")),
        ("replay", "--json", str(place / "run.jsonl")),
    )
    assert_fit(kept)
    assert statuses == [0, 0, 0, 0, 0, 0]
