"""The command line as a newcomer meets it: the demo runs, and each error is one clear line."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import msgspec
import pytest
from click.testing import CliRunner
from groundwire.wire import About, NearPassage

from bus.runs.run_record import RunRecord
from index import languages
from prompts import notices
from runtime.cli import commands
from runtime.cli import groundwire as groundwire_group
from runtime.commands.answer_shown import answer_pieces, passage_pieces, print_passages, uncited
from runtime.commands.filter_options import line_about
from runtime.terminal import styled
from tests.commands import groundwire
from tests.runtime.edge.conftest import citation

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def demo(home: Path) -> subprocess.CompletedProcess[str]:
    return groundwire(home, "demo", "--timings")


def test_demo_answers_in_three_languages_with_sources(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stderr
    for words in ("50,000원 이상 주문하면 배송비는 무료입니다", "每12至18个月必须更换一次", "must wear safety goggles"):
        assert words in demo.stdout
    assert len(re.findall(r"^  \[1\]", demo.stdout, re.MULTILINE)) == 3
    assert demo.stderr.count("select_evidence") == 3
    assert "Traceback" not in demo.stderr


def test_ask_prints_stream_events(home: Path, demo: subprocess.CompletedProcess[str]) -> None:
    index = str(home / "demo-index")
    done = groundwire(home, "ask", "--index", index, "--json", "What must everyone wear in the laboratory?")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [e["type"] for e in events][-2:] == ["references", "DONE"]
    tokens = [e for e in events if e["type"] == "token"]
    assert [t["index"] for t in tokens[:-1]] == list(range(1, len(tokens)))
    assert tokens[-1] == {"type": "token", "content": "", "status": "end"}


@pytest.mark.parametrize(("form", "shown"), [([], True), (["--json"], False)])
def test_terminal_shows_the_start_and_how_to_spare_it(
    home: Path, demo: subprocess.CompletedProcess[str], form: list[str], shown: bool
) -> None:
    index, code = str(home / "demo-index"), "from runtime.commands import ask; ask.SLOW_S = 0; import runtime.__main__"
    command = [sys.executable, "-c", code, "ask", "--index", index, *form, "What must everyone wear in the laboratory?"]
    ours, theirs = pty.openpty()
    environ = {"GROUNDWIRE_STATE": str(home), "TERM": "xterm", "COLUMNS": "200"}
    done = subprocess.run(
        command, env=os.environ | environ, stdout=subprocess.PIPE, stderr=theirs, cwd=ROOT, check=True
    )
    os.close(theirs)
    told = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal, contextlib.suppress(OSError):  # it has nothing, or no more
        while more := terminal.read(65536):
            told += more
    assert b"goggles" in done.stdout
    assert b"starting" not in done.stdout
    assert ("starting…" in told.decode(), f"up --index {index}` keeps all" in told.decode()) == (shown, shown)
    assert shown or not told


def test_search_obeys_the_filter(home: Path, demo: subprocess.CompletedProcess[str]) -> None:
    index = str(home / "demo-index")
    found = groundwire(home, "search", "--index", index, "--in-path", "myopia-zh", "--json", "-k", "20", "镜片 safety")
    assert found.returncode == 0, found.stderr
    assert {json.loads(line)["source_id"].partition("/")[0] for line in found.stdout.splitlines()} == {"myopia-zh"}


NEAR = "镜片是谁发明的？"


def test_closest_passages_are_printed_with_addresses(home: Path, demo: subprocess.CompletedProcess[str]) -> None:
    done = groundwire(home, "ask", "--index", str(home / "demo-index"), "--voice", "strict", "--more", NEAR)
    assert done.returncode == 3, done.stdout + done.stderr
    told, _, passages = done.stdout.partition("\n\n1. ")
    assert told == notices.closest(notices.text("replies", "closest", "zh"), "zh")
    assert 2 <= len(re.findall(r"^\d\. ", passages, re.MULTILINE)) <= 5
    assert (
        "(myopia-zh/ortho-k-lenses.html)\n   角膜塑形镜佩戴须知 › 复查与更换\n   角膜塑形镜的镜片每12至18个月"
        in passages
    )
    assert "\x1b" not in done.stdout


def test_matching_words_are_bold_and_terminal_is_safe(capsys: pytest.CaptureFixture[str]) -> None:
    near = NearPassage(
        source_id="a.md",
        title="A",
        url="https://example.org/a#b",
        page=3,
        source_start=0,
        source_end=9,
        text="Two refunds\x1b[2J\n\n  a line",
        marked=((4, 11),),
        score=0.5,
        headings=("Shop", "Terms"),
    )
    assert styled(*passage_pieces(1, near, "en")) == (
        "1. A (https://example.org/a#b)\n   Shop › Terms, p. 3\n   Two \x1b[1mrefunds\x1b[0m[2J\n     a line"
    )
    print_passages([near, near], "en", more=False)
    assert capsys.readouterr().out.endswith(
        "2. A (https://example.org/a#b), Shop › Terms, p. 3\n\nShow more (--more)\n"
    )
    near = msgspec.structs.replace(near, best=(0, 11), missing=("shipping", "fees"))
    assert styled(*passage_pieces(1, near, "en")).splitlines()[2:] == [
        "   \x1b[1mTwo refunds\x1b[0m[2J",
        "     a line",
        "   Not in it: shipping, fees",
    ]
    old = msgspec.structs.replace(near, outdated="B")
    assert styled(*passage_pieces(1, old, "en")).splitlines()[2] == "   Out of date, replaced by: B"
    print_passages([near, msgspec.structs.replace(old, outdated="")], "en", more=False)
    assert "\n   Out of date\n   > Two refunds" in capsys.readouterr().out
    near = msgspec.structs.replace(near, text="So, Two refunds. " + "One more line. " * 12, best=(4, 15))
    assert styled(*passage_pieces(1, near, "en")).splitlines()[2:4] == ["   > \x1b[1mTwo refunds\x1b[0m", ""]


def test_passages_near_an_answer_are_those_of_which_nothing_is_cited() -> None:
    one = citation(1, "Paid in 3 days.")
    place = {"source_id": one.source_id, "title": "A", "url": "", "page": None, "text": "", "marked": (), "score": 0.5}
    near = [NearPassage(source_start=start, source_end=start + 9, **place) for start in (0, 50)]
    record = RunRecord(
        run_id="r", status="finished", question="", profile="general", citations=(one,), nearby=tuple(near)
    )
    assert uncited(record) == near[1:]


@pytest.mark.parametrize(
    ("cited", "lead", "answer", "shown"),
    [
        (
            "A. Paid in 3 days. B.",
            (3, 18),
            "A. Paid in 3 days [1]. B [1].",
            "A. \x1b[1mPaid in 3 days\x1b[0m [1]. B [1].",
        ),
        ("- paid in\n3 days.", (0, 18), "Paid in 3 days [1].", "\x1b[1mPaid in 3 days\x1b[0m [1]."),
        ("Room: A | fee: 3", (10, 16), "Room: A | fee: 3 [1].", "Room: A | \x1b[1mfee: 3\x1b[0m [1]."),
        ("Room: A | fee: 3", (0, 16), "Room: A | fee: 3 [1].", "Room: A | fee: 3 [1]."),
        ("1. paid in 3 days.\n\npay()", (0, 25), "Paid in 3 days [1]:", "\x1b[1mPaid in 3 days\x1b[0m [1]:"),
    ],
)
def test_the_sentence_that_answers_is_bold(cited: str, lead: tuple[int, int], answer: str, shown: str) -> None:
    block = "table_row" if " | " in cited else "prose"
    one = msgspec.structs.replace(citation(1, cited, 40, lead=(40 + lead[0], 40 + lead[1])), block=block)
    record = RunRecord(run_id="r", status="finished", question="", profile="general", citations=(one,))
    assert styled(*answer_pieces(answer, record)) == shown
    assert answer_pieces(answer, None) == (answer,)


def test_sentence_far_inside_a_paragraph_comes_first_too() -> None:
    one = citation(1, "Paid in 3 days.", 40, lead=(40, 55))
    record = RunRecord(run_id="r", status="finished", question="", profile="general", citations=(one,))
    behind = "This is said of other things at length. " * 4
    told = styled(*answer_pieces(f"{behind}Paid in 3 days [1].", record))
    assert told == f"> \x1b[1mPaid in 3 days\x1b[0m\n\n{behind}\x1b[1mPaid in 3 days\x1b[0m [1]."


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["ask", "--index", "/nowhere", "hi"], 2, "build one with `groundwire index build"),
        (["ask", "--index", "{index}", " "], 2, "the question is empty"),
        (["ask", "--index", "{index}", "x" * 4001], 2, "shorten it to 4000"),
        (["ask", "--index", "{index}", "a\x01b"], 2, "control character"),
        (["ask", "--index", "{index}", "--profile", "libary", "hi"], 2, "did you mean 'library'"),
        (["ask", "--index", "{index}", "--style", "long", "hi"], 2, "'synthesis'"),
        (["ask", "--index", "{index}", "--voice", "loud", "hi"], 2, "'helpful'"),
        (["ask", "--index", "{index}", "--after", "May", "hi"], 2, "--after: expected a date like 2026-01-31"),
        (["search", "--index", "{index}", "--in-language", "eng", "hi"], 2, "--in-language"),
        (["search", "--index", "{index}", "--tag", "", "hi"], 2, "--tag: expected a string of length >= 1"),
        (["search", "--index", "{index}", "--in-path", "no/**", "hi"], 0, "no document passes the filter (path no/**)"),
        (["search", "--index", "/nowhere", "hi"], 1, "/nowhere"),
        (["ask", "--index", "/usr/share", "hi"], 2, "`groundwire index build /usr/share --index share.index`"),
        (["index", "build", "/nowhere", "--index", "{index}-new"], 1, "/nowhere"),
        (["up", "--index", "/nowhere"], 2, "build one with"),
    ],
)
def test_error_is_one_line(
    home: Path, demo: subprocess.CompletedProcess[str], arguments: list[str], status: int, words: str
) -> None:
    given = [a.replace("{index}", str(home / "demo-index")) for a in arguments]
    environ = {"GROUNDWIRE_STATE": str(home), "COLUMNS": "200"}
    done = CliRunner().invoke(groundwire_group, given, env=environ, standalone_mode=False)
    error = done.exception if isinstance(done.exception, click.ClickException) else None
    told = error.format_message() if error else done.stderr.strip()
    assert (error.exit_code if error else done.return_value or done.exit_code) == status, told
    assert words in told
    assert len(told.splitlines()) == 1


def test_error_of_the_process_is_one_line(home: Path) -> None:
    done = groundwire(home, "nothing")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No such command 'nothing'" in done.stderr


_NO_SERVER, _NO_OPENSEARCH, _EMPTY = "is no address of a server", "no address of OpenSearch", "the name is empty"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask", "--url", "http://[::1", "hi"], _NO_SERVER),
        (["ask", "--url", "http://127.0.0.1:99999", "hi"], _NO_SERVER),
        (["ask", "--url", "http://", "hi"], _NO_SERVER),
        (["ask", "--index", "http://[::1", "hi"], _NO_OPENSEARCH),
        (["search", "--index", "https://[::1", "hi"], _NO_OPENSEARCH),
        (["search", "--index", "https://a:65536/x", "hi"], _NO_OPENSEARCH),
        (["index", "build", ".", "--index", "http://[x"], _NO_OPENSEARCH),
        (["index", "build", ".", "--index", ""], _EMPTY),
        (["index", "watch", "--index", ""], _EMPTY),
        (["index", "stats", "--index", " "], _EMPTY),
        (["up", "--index", ""], _EMPTY),
        (["restore", ".", "--index", ""], _EMPTY),
    ],
)
def test_addresses_and_folders_that_are_none(arguments: list[str], words: str) -> None:
    """An empty name, as of a variable that is not set, would be the folder that the command runs in."""
    done = CliRunner().invoke(groundwire_group, arguments)
    assert done.exit_code in (1, 2)
    assert isinstance(done.exception, SystemExit)
    assert words in done.stderr


def test_command_group_lists_its_commands() -> None:
    done = CliRunner().invoke(groundwire_group, ["keys"])
    assert done.exit_code == 2
    assert "\n  revoke  Revoke the key" in done.output


@pytest.mark.parametrize("command", commands())
def test_unknown_variable_is_refused_by_every_command(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EDGE_PROT", "1")
    done = CliRunner().invoke(groundwire_group, [command])
    assert done.exit_code == 2
    assert "GROUNDWIRE_EDGE_PROT in the environment sets nothing; did you mean 'GROUNDWIRE_EDGE_PORT'?" in done.stderr


def test_profile_folder_comes_from_the_settings_file(
    home: Path, demo: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.toml").write_text('extends = "library"\n')
    (tmp_path / "g.toml").write_text(f'profiles = "{tmp_path}/own"\n')
    question = "What must everyone wear in the laboratory?"
    arguments = [
        "--index",
        str(home / "demo-index"),
        "--config",
        str(tmp_path / "g.toml"),
        "--profile",
        "mine",
        question,
    ]
    done = groundwire(home, "ask", *arguments)
    assert done.returncode == 0, done.stderr
    assert "safety goggles" in done.stdout
    (tmp_path / "g.toml").write_text(f'profiles = "{tmp_path}/none"\n')
    done = groundwire(home, "ask", *arguments)
    assert done.returncode == 2
    assert f"profiles: there is no folder {tmp_path}/none" in done.stderr


def test_doctor_and_graph() -> None:
    done = CliRunner().invoke(groundwire_group, ["doctor"])
    assert done.exit_code == 0, done.output
    assert "nats-server" in done.output
    assert CliRunner().invoke(groundwire_group, ["graph"]).output.startswith("flowchart TD")


def test_language_without_a_table_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise languages.LanguageProblem("xx: has no notices.toml, which every language has")

    monkeypatch.setattr(languages, "check", broken)
    done = CliRunner().invoke(groundwire_group, ["graph"])
    assert (done.exit_code, done.output) == (
        1,
        "Error: index/languages: xx: has no notices.toml, which every language has\n",
    )


@pytest.mark.parametrize(("saved", "line"), [(True, "A. Kim, version 2"), (False, "A. Kim, 2026-05-04, version 2")])
def test_day_on_which_a_program_saved_a_copy_is_not_shown(saved: bool, line: str) -> None:
    assert line_about(About(author="A. Kim", date="2026-05-04T10:00:00", version="2", saved=saved), "fr") == line
