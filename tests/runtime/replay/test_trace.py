"""Trace files, the commands on them, the prompts of a recorded run, and the first difference of two JSON texts."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from actors.pipeline import pipeline
from bus.journal.records import Record
from bus.powers.events import Sources, decode_event
from bus.wire.subjects import Key
from prompts.library import Library
from runtime.cli import groundwire
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.forking.fork import fork
from runtime.forking.live_powers import Live
from runtime.replay.difference import first_difference
from runtime.replay.journal_traces import read_run
from runtime.replay.prompts_asked import prompts_asked
from runtime.replay.replayer import replay
from runtime.replay.steps import steps_of
from runtime.replay.trace import BrokenTrace, Trace, dump, load, own, read, write
from tests.runtime.replay.conftest import QUESTIONS
from tests.whole import whole


def plain(trace: Trace) -> Trace:
    """Without what the server adds to each reading."""
    records = tuple(dataclasses.replace(r, headers=own(r.headers)) for r in trace.records)
    frames = tuple(dataclasses.replace(f, headers=own(f.headers)) for f in trace.frames)
    return Trace(trace.run_id, records, frames)


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_file_holds_the_whole_run(traces: dict[str, Trace], tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.jsonl"
    write(path, traces[name])
    again = read(path)
    assert again == plain(traces[name])
    assert [r.data for r in again.records] == [r.data for r in traces[name].records]
    assert (await replay(again, pipeline())) == (await replay(traces[name], pipeline()))


def test_invalid_json_is_kept() -> None:
    junk = Record(Key("question_asked", "r1"), 7, 1.5, b"\xff{ not json\nat all", {})
    assert load(list(dump(Trace("r1", (junk,)))), name="file").records == (junk,)


def changed(number: int, change: Callable[[bytes], bytes | None]) -> Callable[[list[bytes]], list[bytes]]:
    def apply(lines: list[bytes]) -> list[bytes]:
        new = change(lines[number - 1])
        return [*lines[: number - 1], *([] if new is None else [new]), *lines[number:]]

    return apply


BROKEN = [
    (lambda lines: [], "file: the file is empty"),
    (changed(1, lambda line: None), "file, line 1: the header is missing"),
    (changed(1, lambda line: line.replace(b'"version":1', b'"version":9')), "file, line 1: a trace of version 9"),
    (changed(1, lambda line: line.replace(b'"run_id":"', b'"run_id":"a.')), "file, line 1: 'a."),
    (lambda lines: [lines[0], *lines], "file, line 2: a second header"),
    (changed(3, lambda line: line[: len(line) // 2]), "file, line 3: Input data was truncated"),
    (changed(3, lambda line: b"\xff" + line), "file, line 3: "),
    (changed(3, lambda line: line.replace(b'"sequence"', b'"number"')), "file, line 3: Object missing required field"),
    (changed(3, lambda line: line.replace(b'"gw.', b'"xx.')), "file, line 3: 'xx."),
    (changed(3, lambda line: None), "file, line 3: record "),
    (lambda lines: [*lines[:3], lines[2], *lines[3:]], "is there twice; a line was lost or moved"),
    (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "is not above it; a line was lost or moved"),
]


@pytest.mark.parametrize(("change", "says"), BROKEN)
def test_bad_file_is_reported(
    traces: dict[str, Trace], change: Callable[[list[bytes]], list[bytes]], says: str
) -> None:
    lines = change(list(dump(traces["simple"])))
    with pytest.raises(BrokenTrace) as broken:
        load(lines, name="file")
    assert says in str(broken.value)
    assert "\n" not in str(broken.value)


def test_records_of_another_run_are_refused(traces: dict[str, Trace]) -> None:
    one, other = (list(dump(traces[name])) for name in ("simple", "declined"))
    with pytest.raises(BrokenTrace, match="file, line 2: a record of run"):
        load([one[0], *other[1:]], name="file")


ROWS = [
    ('{"a":1}', '{"a":1}', None),
    ('{"a":1,"b":2}', '{"a":1,"b":3}', ("b", "2", "3")),
    ('{"a":{"b":[{"n":1},{"n":2}]}}', '{"a":{"b":[{"n":1},{"n":3}]}}', ("a.b[1].n", "2", "3")),
    ('{"a":[1,2]}', '{"a":[1]}', ("a[1]", "2", "nothing")),
    ('{"a":[]}', '{"a":["x"]}', ("a[0]", "nothing", '"x"')),
    ('{"a":1}', '{"a":1,"b":null}', ("b", "nothing", "null")),
    ('{"a":1,"b":null}', '{"a":1}', ("b", "null", "nothing")),
    ('{"a":1}', '{"a":true}', ("a", "1", "true")),
    ('{"a":1}', '{"a":1.0}', None),
    ('{"a":0}', '{"a":false}', ("a", "0", "false")),
    ('{"a":"1"}', '{"a":1}', ("a", '"1"', "1")),
    ('{"a":1,"b":2}', '{ "b":2,\n"a":1}', None),
    ('{"a":1.0}', '{"a":1.00}', None),
    ("[1", "[2", ("", '"[1"', '"[2"')),
]


@pytest.mark.parametrize(("recorded", "now", "found"), ROWS)
def test_the_first_difference(recorded: str, now: str, found: tuple[str, str, str] | None) -> None:
    difference = first_difference(recorded.encode(), now.encode())
    assert (difference and (difference.path, difference.recorded, difference.now)) == found


def test_long_texts_are_shown_from_their_difference() -> None:
    texts = [msgspec.json.encode({"answer": "word " * 100 + end + " word" * 100}) for end in ("fourteen", "fifteen")]
    difference = first_difference(*texts)
    assert difference is not None
    assert difference.recorded.startswith('"…')
    assert "fourteen" in difference.recorded
    assert "fifteen" in difference.now
    assert max(len(difference.recorded), len(difference.now)) <= 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_equal_values_have_no_difference(one: object, other: object) -> None:
    texts = msgspec.json.encode(one), msgspec.json.encode(other)
    sorted_texts = [msgspec.json.encode(each, order="sorted") for each in (one, other)]
    assert (first_difference(*texts) is None) == (sorted_texts[0] == sorted_texts[1])


def test_absent_field_has_its_default() -> None:
    now = msgspec.json.encode(Sources(items=()))
    for recorded, same in ((b'{"type":"sources","items":[],"gone":1}', True), (b'{"type":"sources"}', False)):
        assert (first_difference(recorded, now, decode_event) is None) == same


@pytest.mark.parametrize("printed", [{}, {"indent": 2, "sort_keys": True}], ids=["spaces", "lines"])
async def test_rewritten_trace_replays(traces: dict[str, Trace], tmp_path: Path, printed: dict[str, int]) -> None:
    """As `jq` or Python's json writes it: with spaces, other escapes, in another order."""
    for trace in traces.values():
        path = tmp_path / "run.jsonl"
        path.write_text("".join(json.dumps(json.loads(line), **printed) + "\n" for line in dump(trace)))  # type: ignore[arg-type]
        assert (await replay(read(path), pipeline())).divergence is None


EARLIER = sorted(Path(__file__).with_name("earlier").glob("*.jsonl"))


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
async def test_trace_of_earlier_version_replays(path: Path) -> None:
    """Named by the commit that wrote it. Each reaches the choice, which had other weights then."""
    found = (await replay(read(path), pipeline())).divergence
    assert found is not None
    assert (found.stage, found.part) == ("select_evidence", "output")


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
async def test_trace_of_earlier_version_forks(path: Path) -> None:
    trace = read(path)
    forked = load(list(dump(await fork(trace, pipeline(), "stream_answer", "forked", Live()))), name="fork")
    assert [step.name for step in steps_of(forked, pipeline()).taken] == [
        step.name for step in steps_of(trace, pipeline()).taken
    ]


async def test_every_prompt_of_a_run_is_rendered_again(tmp_path: Path) -> None:
    async with whole(tmp_path, ExtractiveEngine()) as stack:
        _, record = await stack.ask("When are refunds paid after the return?")
        trace = await read_run(stack.journal, record.run_id)
    asked, library = [], Library()
    for step in steps_of(trace, pipeline()).done:
        found = await prompts_asked(trace, step)
        for ask in step.stage.asks if step.stage else ():
            prompt = found[ask.prompt, ask.variables]
            asked.append(ask.prompt)
            assert prompt.version == library.version(ask.prompt)
            assert ask.version in ("", prompt.version)
            assert prompt.system
    assert {"classify_intent", "classify_query"} < {*asked}
    answering = next(step for step in steps_of(trace, pipeline()).done if step.name.startswith("answer_"))
    prompt = next(iter((await prompts_asked(trace, answering)).values()))
    assert "When are refunds paid after the return?" in prompt.user
    assert "14 days" in prompt.user


@pytest.fixture
def folder(traces: dict[str, Trace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "run.jsonl", traces["simple"])
    changed = re.sub(r'"confidence":"\w+"', '"confidence":"low"', (tmp_path / "run.jsonl").read_text(), count=1)
    (tmp_path / "changed.jsonl").write_text(changed)
    lines = (tmp_path / "run.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "broken.jsonl").write_text("".join(lines[:3] + lines[4:]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def groundwire_on(*arguments: str) -> Result:
    return CliRunner().invoke(groundwire, list(arguments))


def test_replay_prints_identical(folder: Path) -> None:
    done = groundwire_on("replay", "run.jsonl")
    assert (done.exit_code, done.output[:19]) == (0, "identical: 8 stages")
    assert json.loads(groundwire_on("replay", "run.jsonl", "--json").output)["divergence"] is None


def test_replay_prints_the_first_difference(folder: Path) -> None:
    done = groundwire_on("replay", "changed.jsonl")
    assert done.exit_code == 1
    first, at, recorded, now = done.output.splitlines()[:4]
    assert first.startswith("diverged at ")
    assert at.split()[-1].endswith("confidence")
    assert (recorded.split()[-1], now.split()[-1]) == ('"low"', '"high"')


def test_fork_without_changes_is_its_parent(folder: Path) -> None:
    done = groundwire_on("replay", "run.jsonl", "--from", "answer_simple", "--json")
    found = json.loads(done.output)
    assert found["parts_at"] == ""
    assert {(each["what"], each["by"]) for each in found["given"]} == {
        ("answer_simple", "recorded"),
        ("verify_answer", "recorded"),
    }


def test_missing_reply_is_named(folder: Path) -> None:
    as_library = ("replay", "run.jsonl", "--from", "select_evidence", "--profile", "library", "--out", "fork.jsonl")
    for engine in ((), ("--engine", "recorded")):
        done = groundwire_on(*as_library, *engine)
        assert done.exit_code == 1
        assert "answer_synthesis asks answer_synthesis what the record has no reply to; --fill" in done.output
    assert not (folder / "fork.jsonl").exists()


def test_changed_prompt_is_reported(folder: Path) -> None:
    path = folder / "run.jsonl"
    path.write_text(path.read_text().replace('"prompt":"answer_simple"', '"prompt":"answer_simple","version":"0123"'))
    done = groundwire_on("replay", "run.jsonl")
    assert (done.exit_code, done.output[:19]) == (3, "identical: 8 stages")
    version = Library().version("answer_simple")
    assert f"  prompt answer_simple: recorded 0123, today {version}\n" in done.output
    forked = groundwire_on("replay", "run.jsonl", "--from", "answer_simple").output
    assert "answer_simple: recorded, extractive; the prompt has changed since" in forked
    filled = groundwire_on("replay", "run.jsonl", "--from", "answer_simple", "--fill", "extractive").output
    assert "  answer_simple: answer_simple: extractive\n" in filled


def test_changed_settings_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_ANSWERS_VOICE", "helpful")
    monkeypatch.setenv("GROUNDWIRE_INFERENCE_ENGINE", "openai")
    monkeypatch.setenv("GROUNDWIRE_INFERENCE_MODEL", "big")
    done = groundwire_on("replay", "run.jsonl", "--json")
    assert done.exit_code == 0
    assert {each["what"]: (each["recorded"], each["now"]) for each in json.loads(done.output)["changed"]} == {
        "model": ("extractive", "openai:big"),
        "voice": ("strict", "helpful"),
        "has_model": ("False", "True"),
    }


def test_a_fork_is_written_and_compared(folder: Path) -> None:
    made = groundwire_on(
        "replay", "run.jsonl", "--from", "select_evidence", "--profile", "library",
        "--fill", "extractive", "--out", "fork.jsonl",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    assert groundwire_on("replay", "fork.jsonl").output.endswith("3 stages inherited from its parent not compared\n")
    done = groundwire_on("diff", "run.jsonl", "fork.jsonl")
    assert done.exit_code == 1
    assert "the runs differ at select_evidence" in done.output
    assert "profile: general -> library" in done.output
    assert "days of the return [1].[- Shipping costs" in done.output
    assert "classify_query" not in done.output  # it was taken over, so it took no time of its own
    assert groundwire_on("diff", "run.jsonl", "run.jsonl").exit_code == 0


def test_closest_passages_are_in_trace_and_diff(folder: Path, traces: dict[str, Trace]) -> None:
    write(folder / "near.jsonl", traces["closest"])
    assert groundwire_on("replay", "near.jsonl").output.startswith("identical")
    assert "1. doc1 0-132: La bibliothèque est" in groundwire_on("trace", "show", "near.jsonl").output
    differ = groundwire_on("diff", "run.jsonl", "near.jsonl").output
    assert re.search(r"^answered -> closest \(\w+\)$", differ, re.MULTILINE)
    assert "\nanswer\n" not in differ
    assert "[-" not in differ
    assert "+ doc1 0-132: La bibliothèque est" in differ


WRONG = [
    (("replay",), "name a run or a trace file"),
    (("replay", "broken.jsonl"), "broken.jsonl, line 4: record "),
    (("replay", "missing.jsonl"), "missing.jsonl: cannot be read"),
    (("replay", "run.jsonl", "--from", "select_evidnce"), "did you mean 'select_evidence'?"),
    (("replay", "run.jsonl", "--from", "retrieve", "--profile", "nobody"), "there is no profile 'nobody'"),
    (("replay", "some-run", "--index", "nowhere"), "nowhere does not exist"),
    (("diff", "run.jsonl", "missing.jsonl"), "missing.jsonl: cannot be read"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG)
def test_error_is_one_line(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    done = groundwire_on(*arguments)
    assert done.exit_code == 2
    assert says in done.output.splitlines()[-1]
