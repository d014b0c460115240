"""Shared traces: nothing planted remains in them, and they replay as the original does."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from actors.pipeline import pipeline
from bus.runs.run_record import record_of
from bus.runs.story import story_of
from bus.wire.messages import QuestionAsked
from index.masking.finding import secrets_in
from runtime.cli import groundwire
from runtime.forking.fork import cited_only
from runtime.replay.masks import Masks
from runtime.replay.replayer import replay
from runtime.replay.sharing import shared
from runtime.replay.trace import Trace, dump, load, read, write
from tests.made_runs import doubtful, made, passage
from tests.planted import planted

PROFILES = ("general", "support", "library")
ASKED = (
    "How many days until refunds are paid?",
    "When does the shop open on weekdays?",
    "Is {value} known to the shop?",
    "What is it about? {sentence}",
    "What is the difference between when refunds are paid and when the shop opens, and {value}?",
)


async def run_with(here: list[tuple[str, str, str]], number: int, profile: str) -> Trace:
    """A run with these values in its pages, and for most the last in its question; every other one by a doubtful model."""
    _, sentence, value = here[-1]
    first, second = (" ".join(text for _, text, _ in part) for part in (here[::2], here[1::2]))
    pages = (
        passage(
            "refunds.md", f"Refunds are paid within 14 days of the return. {first} Shipping is not refunded.", "en", 1
        ),
        passage("opening.md", f"The shop opens at nine on weekdays. {second} On Saturdays it opens at ten.", "en", 2),
    )
    asked = QuestionAsked(
        question=ASKED[number % len(ASKED)].format(sentence=sentence, value=value),
        profile=profile,
        language="en",
        events="all" if number % 3 else "default",
    )
    return await made(asked, pages, f"run{number}", doubtful(random.Random(number)) if number % 2 else None)


def text_of(trace: Trace) -> str:
    return b"\n".join(dump(trace)).decode()


async def test_masked_traces_replay_without_planted_values() -> None:
    values, outcomes = planted(26, 216), set()
    for number in range(24):
        here = values[9 * number : 9 * number + 9]
        trace = await run_with(here, number, PROFILES[number % 3])
        done = await shared(trace, pipeline(), key=b"test")
        assert done.divergence is None, (number, here)
        again = load(list(dump(done.trace)), name="shared")
        assert (await replay(again, pipeline())).divergence is None
        for name, _, value in here:
            assert value not in text_of(done.trace), (number, name)
        record, masked = (record_of(story_of(each.records)) for each in (trace, done.trace))
        assert record is not None
        assert masked is not None
        assert (record.outcome, record.reason) == (masked.outcome, masked.reason)
        outcomes.add(record.outcome)
    assert outcomes >= {"answered", "closest", "refused"}


async def test_one_value_has_one_stand_in() -> None:
    masks = Masks(b"k" * 16)
    texts = (
        "Call 010-3255-4018 or write to kim@shop.com.",
        "010 3255 4018, 01032554018 and KIM@shop.com again, but 17-3255-4018",
    )
    for text in texts:
        masks.learn(text)
    masks.choose(set())
    one, other = map(masks.apply, texts)
    phone, mail = one[5:18], one[31:43]
    assert phone[-4:] == "4018"
    assert phone != "010-3255-4018"
    assert [phone.replace("-", sign) for sign in (" ", "")] == [other[:13], other[15:26]]
    assert mail.upper().startswith(other[31:34])
    assert [*map(len, texts)] == [len(one), len(other)]
    # A number with one group changed shares the others with it, so that it still looks like a mistake.
    assert other[-12:][3:7] == phone[4:8]


async def test_value_that_a_model_changed_goes_too() -> None:
    masks = Masks(b"k" * 16)
    evidence, reply = (
        "The key AKIAEW02VO11GP82HZXW opens it.",
        "The key AKIAEW9VO11GP82HZXW opens it; AKIAS and 14days do not.",
    )
    masks.learn(evidence)
    masks.learn_near(reply)
    masks.choose(set())
    one, other = (masks.apply(text)[8:28] for text in (evidence, reply))
    assert "AKIAEW" not in one + other
    assert (one[:6], one[8:]) == (other[:6], other[7:].rstrip()[:12])
    assert masks.apply(reply).endswith(" opens it; AKIAS and 14days do not.")


PLAIN = (
    "Refunds are paid within 14 days of the return, version 2.31.0 of 2025-10-31T09:00:00Z.",
    "See article 12/2024, order 558812 and the sections A4, B5 and C3 of the assessment-rules-2025.",
    "The password must be changed every 90 days; a token is a piece of a word.",
    "비밀번호는 90일마다 바꿔야 합니다. 회의실은 3층 301호입니다.",
    "密码每九十天更换一次，位于第三层。",
)


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_has_no_secrets(text: str) -> None:
    assert [text[start:end] for start, end in secrets_in(text)] == []


async def test_only_cited_passages_remain() -> None:
    pages = (
        passage("refunds.md", "Refunds are paid within 14 days of the return.", "en", 1),
        passage("opening.md", "The shop opens at nine on weekdays.", "en", 2),
    )
    question = QuestionAsked(question="How many days until refunds of the shop are paid?", language="en")
    trace = await made(question, pages, "cited")
    done = await shared(cited_only(trace, pipeline()), pipeline())
    assert done.divergence is None
    replayed = await replay(done.trace, pipeline())
    assert replayed.divergence is None
    assert replayed.inherited > 0
    assert replayed.stages > 2
    assert "refunds.md" in text_of(done.trace)
    assert "opens at nine" in text_of(trace)
    assert "opens at nine" not in text_of(done.trace)
    near = [each.source_id for run in done.trace.story.stages if run.stage.choice for each in run.stage.choice.near]
    assert "opening.md" not in near


@pytest.fixture
async def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str]:
    """A run in `run.jsonl`; the values in it."""
    here = planted(26, 12)[9:12]
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "run.jsonl", await run_with(here, 3, "support"))
    return here[0][2], here[1][2], here[2][2]


def export(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(groundwire, ["trace", "export", "run.jsonl", *arguments])
    return done.exit_code, done.output


def test_shared_export_replays_identically(exported: tuple[str, str, str]) -> None:
    code, told = export("--share", "--out", "shared.jsonl")
    assert (code, "each the same everywhere" in told) == (0, True), told
    text = Path("shared.jsonl").read_text()
    assert not any(value in text for value in exported)
    done = CliRunner().invoke(groundwire, ["replay", "shared.jsonl"])
    assert done.output.startswith("identical"), done.output


def test_export_masks_what_the_profile_masks(exported: tuple[str, str, str]) -> None:
    mail = "kim.cho@mailbox.com"
    trace = Path("run.jsonl").read_text().replace(exported[0], mail)
    Path("run.jsonl").write_text(trace)
    export("--out", "plain.jsonl")
    assert mail not in Path("plain.jsonl").read_text()
    assert export("--raw", "--out", "raw.jsonl")[0] == 0
    assert mail in Path("raw.jsonl").read_text()


def test_contradicting_options_are_refused(exported: tuple[str, str, str]) -> None:
    code, told = export("--raw", "--share")
    assert (code, "leave one out" in told) == (2, True)


def test_page_holds_record_and_stages(exported: tuple[str, str, str]) -> None:
    assert export("--share", "--html", "--out", "run.html")[0] == 0
    text = Path("run.html").read_text()
    held = json.loads(text.split('id="held">')[1].split("</script>")[0])
    record, stages = [*held.values()][:2]
    assert record["run_id"] == read(Path("run.jsonl")).run_id
    assert next(each["stage"] for each in stages["stages"]) == "classify_intent"
    assert len(held) == 2 + len(stages["stages"])
    assert not any(value in text for value in exported)
