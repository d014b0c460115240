"""Each profile from question to DONE with the extractive engine, over documents of the demo: one golden stream each.

To renew them after an intended change: `python -m tests.runtime.test_profiles_end_to_end`.
"""

import asyncio
import tempfile
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from groundwire.wire import Context, ContextMetadata

from bus.wire.messages import QuestionAsked
from bus.wire.parts import Constraints
from index.languages.detection import detect
from index.text.citations import markers
from prompts.profiles import load, names
from runtime.commands.profiles import profiles_group, to_toml
from runtime.engines.extractive.engine import ExtractiveEngine
from tests.whole import RunResult, Whole, whole

DOCUMENTS = Path(__file__).parents[2] / "runtime/demo/documents"
GOLDEN = Path(__file__).with_name("golden")

ASKED = {
    "library": (
        "단순 변심으로 환불을 신청할 수 있는 기간은 상품을 받은 날부터 며칠입니까?",
        "support-ko/refund-policy.md",
        "support-ko/refund-policy-2022.md",
    ),
    "tutor": (
        "Combien de livres un étudiant de licence peut-il emprunter ?",
        "handbook-fr/bibliotheque.md",
        "handbook-fr/examens.md",
    ),
    "support": (
        "배송 중 파손된 상품은 언제까지 신고해야 하나요?",
        "support-ko/exchange-and-defects.md",
        "support-ko/delivery-guide.md",
    ),
    "myopia": (
        "使用阿托品可能有哪些不良反应，每天应当有多长时间的户外活动，教室课桌面的照度不得低于多少？",
        "myopia-zh/low-dose-atropine.md",
        "myopia-zh/outdoor-and-screen-time.md",
        "myopia-zh/school-screening-rules.md",
    ),
    "general": (
        "How many marks does late coursework lose for each day?",
        "handbook-en/assessment-rules.md",
        "handbook-en/mathematics-course-guide.md",
    ),
}


def context(name: str) -> Context:
    text = (DOCUMENTS / name).read_text(encoding="utf-8")
    title = text.splitlines()[0].lstrip("# ")
    return Context(
        content=text, metadata=ContextMetadata(source_id=name, title=title, url=f"https://demo.example/{name}")
    )


def question(profile: str, text: str, *names: str, events: str = "default") -> QuestionAsked:
    return QuestionAsked(question=text, profile=profile, contexts=tuple(map(context, names)), events=events)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    async with whole(tmp_path_factory.mktemp("stack"), ExtractiveEngine(), cache_entries=0) as made:
        yield made


def golden(profile: str) -> Path:
    return GOLDEN / f"profile-{profile}.jsonl"


@pytest.mark.parametrize("profile", ASKED)
async def test_profile_matches_its_golden_stream(running: Whole, profile: str) -> None:
    told = await running.tell(question(profile, *ASKED[profile]))
    assert told.types == ["token", "references", "DONE"]
    assert told.record.outcome == "answered"
    assert markers(told.shown)
    assert detect(told.shown) == told.record.language
    assert told.shown == told.record.answer
    assert "\n".join(told.lines) + "\n" == golden(profile).read_text(encoding="utf-8")


async def test_library_keeps_400_characters_and_both_sides(running: Whole) -> None:
    told = await running.tell(question("library", *ASKED["library"]))
    assert len(told.shown) <= 400
    (conflict,) = told.record.conflicts
    assert {conflict.first, conflict.second} == {"14일", "7일"}
    assert {conflict.first_n, conflict.second_n} <= {citation.n for citation in told.record.citations}
    assert {r.source_id for r in told.record.references} == {
        "support-ko/refund-policy.md",
        "support-ko/refund-policy-2022.md",
    }


async def test_myopia_writes_a_report_with_advice(running: Whole) -> None:
    told = await running.tell(question("myopia", *ASKED["myopia"]))
    assert "TL;DR" in told.shown
    assert "不能代替医生的诊断" in told.shown
    assert len(told.record.references) >= 2


async def test_support_answers_with_summary_details_and_citations(running: Whole) -> None:
    asked = question("support", *ASKED["support"])
    told = await running.tell(msgspec.structs.replace(asked, constraints=Constraints(style="간단 요약")))
    assert told.shown.splitlines()[0].count("[") >= 1
    assert all(line.startswith("- ") for line in told.shown.splitlines()[1:])
    structured = told.record.structured
    assert structured is not None
    assert (structured.summary in told.shown.replace(" [1]", ""), len(structured.details)) == (
        True,
        len(told.shown.splitlines()) - 1,
    )
    assert structured.citations == tuple(each.source_id for each in told.record.references)


async def test_parts_exclude_the_notice_of_a_conflict(running: Whole) -> None:
    told = await running.tell(question("support", *ASKED["library"]))
    structured = told.record.structured
    assert structured is not None
    assert (len(told.record.conflicts), "14일" in structured.summary, len(structured.details)) == (1, True, 2)
    assert "7일" in structured.notice


@pytest.mark.parametrize("style", [None, "simple", "structured"])
async def test_tutor_hints_at_exercises_in_every_style(running: Whole, style: str | None) -> None:
    exercise = "Calcule combien coûte un livre rendu avec 7 jours de retard."
    asked = question("tutor", exercise, "handbook-fr/bibliotheque.md")
    told = await running.tell(
        msgspec.structs.replace(asked, constraints=msgspec.convert({"style": style}, Constraints))
    )
    assert {stage.stage for stage in told.record.stages} >= {"answer_hint"}
    assert "1,40" not in told.shown
    assert "?" in told.shown


async def test_support_uses_policy_words_and_masks(running: Whole) -> None:
    declined = await running.tell(
        question("support", "법적 대응을 하기 전에 환불해 주세요.", "support-ko/refund-policy.md")
    )
    assert (declined.record.outcome, declined.types) == ("declined", ["token", "DONE"])
    assert "담당 상담원" in declined.shown
    private = Context(
        content="파손된 상품 담당자의 전화번호는 010-2345-6789이고 전자 우편은 minsu.kim@shop.example입니다.",
        metadata=ContextMetadata(source_id="desk", title="담당자"),
    )
    asked = QuestionAsked(
        question="파손된 상품 담당자의 전화번호는 무엇인가요?", profile="support", contexts=(private,)
    )
    told = await running.tell(asked)
    assert told.record.outcome == "answered"
    assert "2345" not in told.shown
    assert "minsu.kim" not in told.shown
    assert not any("2345" in line for line in told.lines)


async def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with whole(Path(folder), ExtractiveEngine(), cache_entries=0) as made:
            for profile, asked in ASKED.items():
                told: RunResult = await made.tell(question(profile, *asked))
                golden(profile).write_text("\n".join(told.lines) + "\n", encoding="utf-8")
                print(profile, told.record.outcome, told.record.reason, told.record.re_gate, told.record.conflicts)
                print(told.shown)


if __name__ == "__main__":
    asyncio.run(main())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(profiles_group, arguments)


def test_list_has_a_row_for_each() -> None:
    result = run("list")
    assert result.exit_code == 0
    rows = result.stdout.splitlines()[1:]
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == list(names())
    assert "400 characters with [n]" in result.stdout


@pytest.mark.parametrize("name", names())
def test_show_output_reads_back_unchanged(name: str, tmp_path: Path) -> None:
    result = run("show", name)
    assert result.exit_code == 0
    assert tomllib.loads(result.stdout)["default_language"] == load(name).default_language
    (tmp_path / f"{name}.toml").write_text(result.stdout, encoding="utf-8")
    assert load(name, tmp_path) == load(name)
    assert result.stdout == to_toml(load(name))


def test_unknown_name_suggests_the_nearest() -> None:
    result = run("show", "tutr")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean 'tutor'?" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_check_prints_one_line_a_problem(tmp_path: Path) -> None:
    assert run("check").exit_code == 0
    (tmp_path / "mine.toml").write_text('extends = "general"\nrelase = "draft"\nverfy = true\n', encoding="utf-8")
    result = run("check", str(tmp_path / "mine.toml"), "tutor")
    assert (result.exit_code, result.stdout) == (2, "tutor: good\n")
    assert result.stderr.splitlines() == [
        f"{tmp_path}/mine.toml: relase: unknown key; did you mean 'release'?",
        f"{tmp_path}/mine.toml: verfy: unknown key; did you mean 'verify'?",
    ]
    assert run("check", "--folder", str(tmp_path)).exit_code == 2
    assert run("list", "--folder", str(tmp_path)).exit_code == 2
