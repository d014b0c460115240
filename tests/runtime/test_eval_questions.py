"""`groundwire eval questions`: the rule for right, the grades, the figures, and the command over real stacks."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from index.build.ingest import bring_in
from runtime import demo
from runtime.commands.demo import questions
from runtime.commands.eval_questions import ask_all, eval_questions_command, request
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.measure.question_figures import counts, figures, wilson
from runtime.measure.questions import Cited, Exchange, GoldQuestion, Near, Seen, graded, holds, shows, unmarked, within
from tests.whole import whole


@pytest.mark.parametrize(
    ("text", "gold", "held"),
    [
        ("Kept for one\n  year.", "one year", True),
        ("Set `max_samples` to **2000**.", "max_samples to 2000", True),
        ("See [the guide](https://example.org/one-year).", "the guide.", True),
        ("See [the guide](https://example.org/one-year).", "one-year", False),
        ("a <b>bold</b> word", "a bold word", True),
        ("poblaci&oacute;n", "Población", True),
        ("STRASSE", "straße", True),
        ("١٤ يَوْمًا", "١٤ يوما", True),
        ("مـــدة", "مدة", True),
        ("ＡＢＣ １２３", "abc 123", True),
        ("44 days", "44", True),
        ("440 days", "44", False),
        ("3.44", "44", True),
        ("v44", "44", False),
        ("JOD", "jo", False),
        ("JO, JOD", "jo", True),
        ("14일 안에", "14", True),
        ("anything", "**", False),
    ],
)
def test_gold_matches_despite_markup(text: str, gold: str, held: bool) -> None:
    assert holds(text, gold) is held


def test_a_row_must_hold_both() -> None:
    assert shows("Country: Jordan | Currency: JOD", ["JOD"], ["Jordan", "JOR"])
    assert not shows("Country: Kuwait | Currency: JOD", ["JOD"], ["Jordan", "JOR"])
    assert not shows("Country: Jordan | Currency: none", ["JOD"], ["Jordan"])
    assert not shows("anything", [])


def test_length_is_what_a_reader_sees() -> None:
    assert unmarked("* see  [the `guide`](https://example.org)\n\n\n**now**") == "see the guide\nnow"
    assert within("abcdef", 3) == "abc"
    assert within("한국어", 5) == "한국"
    assert within("中文字", 6) == "中文"
    assert within("abc", 600) == "abc"


def asked(number: int = 1, **fields: Any) -> GoldQuestion:
    return GoldQuestion(**{"id": str(number), "question": "?", "gold": ("14 days",), **fields})


NEAR_MISS = asked(answerable=False, gold=())


def answered(*spans: str, text: str = "", **fields: Any) -> Seen:
    cited = tuple(Cited(n=n, source_id="a", cited_text=span) for n, span in enumerate(spans, 1))
    return Seen(**{"outcome": "answered", "answer": text or " ".join(spans), "citations": cited, **fields})


LONG = "x" * 700


@pytest.mark.parametrize(
    ("question", "seen", "grade", "helped"),
    [
        (asked(), answered("Paid within 14 days."), "right", True),
        (asked(), answered("Paid soon.", text="Paid in **14 days** [1]."), "right", True),
        (asked(), answered("Paid soon."), "beside", False),
        (asked(), answered("Paid soon.", nearby=(Near(source_id="a", text="14 days"),)), "beside", True),
        (asked(), answered(f"{LONG} 14 days"), "beside", False),
        (asked(), answered(LONG, "14 days"), "beside", False),
        (asked(), answered("x" * 500, "14 days"), "right", True),
        (asked(), Seen(outcome="closest", passages=(Near(source_id="a", text="14 days"),)), "closest", True),
        (asked(), Seen(outcome="closest", passages=(Near(source_id="a", text="soon"),)), "closest", False),
        (asked(), Seen(outcome="refused"), "refused", False),
        (asked(), Seen(outcome="declined"), "refused", False),
        (asked(), Seen(outcome="failed", answer="14 days"), "failed", False),
        (asked(), Seen(outcome=None), "failed", False),
        (NEAR_MISS, answered("Paid within 14 days."), "beside", False),
        (NEAR_MISS, Seen(outcome="closest", passages=(Near(source_id="a", text="14 days"),)), "closest", False),
    ],
)
def test_grades(question: GoldQuestion, seen: Seen, grade: str, helped: bool) -> None:
    item = graded(question, seen)
    assert (item.grade, item.helped) == (grade, helped)


def test_introduction_is_part_of_the_shown_span() -> None:
    cited = Cited(n=1, source_id="a", cited_text="- 14 days", intro="Refunds are paid after:")
    question = asked(gold_also=("refunds",))
    assert graded(question, Seen(outcome="answered", answer="14 days [1]", citations=(cited,))).grade == "right"
    assert graded(question, Seen(outcome="answered", answer="14 days [1]")).grade == "beside"


def test_two_rows_are_not_one() -> None:
    rows = "Name: refund | Time: 3 weeks\nName: return | Time: 14 days"
    cited = (Cited(n=1, source_id="a", cited_text=rows, block="table_row"),)
    for also, grade in (("return", "right"), ("refund", "beside")):
        seen = Seen(outcome="answered", answer=f"{rows} [1]", citations=cited)
        assert graded(asked(gold_also=(also,)), seen).grade == grade


def test_long_answer_is_measured_without_markers() -> None:
    link = "[see](https://example.org/a/long/way)"
    assert graded(asked(), answered("x", text=f"**{'x' * 596}** {link} [1]")).weight == 600
    assert graded(asked(), answered("x", text=f"**{'x' * 597}** {link} [1]")).too_long
    assert not graded(asked(), answered("x", text="x" * 598 + " [1, 2]")).too_long
    assert graded(asked(), answered("x", text="中" * 201)).too_long


def test_figures() -> None:
    right = {"confidence": "high", "first_shown_s": 0.1}
    items = [
        graded(asked(1, kind="fact"), answered("14 days", **right)),
        graded(asked(2, kind="fact"), answered("soon", confidence="high", first_shown_s=0.3)),
        graded(asked(3, kind="fact"), answered("14 days", confidence="medium")),
        graded(asked(4, kind="table"), Seen(outcome="closest", passages=(Near(source_id="a", text="14 days"),))),
        graded(asked(5, kind="table"), Seen(outcome="refused")),
        graded(asked(6, kind="table"), Seen()),
        graded(asked(7, answerable=False, gold=()), answered("14 days", **right)),
        graded(asked(8, answerable=False, gold=()), Seen(outcome="refused")),
    ]
    found = figures(items)
    assert {name: (one.found, one.of) for name, one in found.shares.items()} == {
        "right_of_shown": (2, 4),
        "right": (2, 6),
        "beside": (1, 6),
        "closest": (1, 6),
        "refused": (1, 6),
        "failed": (1, 8),
        "helped": (3, 6),
        "near_misses_shown": (1, 2),
        "high_right": (1, 3),
        "high_of_answerable": (2, 6),
        "medium_right": (1, 1),
        "low_right": (0, 0),
        "too_long": (0, 4),
    }
    assert (found.lengths["weight_median"], found.lengths["weight_longest"]) == (7.0, 7.0)
    assert (found.lengths["first_word_p50_s"], found.lengths["first_word_p95_s"]) == (0.1, 0.3)
    kinds = counts(items, lambda one: one.kind)
    assert list(kinds) == ["fact", "table", "-"]
    assert (kinds["fact"].right, kinds["fact"].beside, kinds["table"].failed, kinds["-"].near_misses_shown) == (
        2,
        1,
        1,
        1,
    )


def test_figures_of_nothing_shown() -> None:
    found = figures([graded(asked(), Seen(outcome="refused"))])
    assert found.shares["right_of_shown"].share is None
    assert {*found.lengths.values()} == {None}


@pytest.mark.parametrize(
    ("found", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962), (1, 4, 0.0456, 0.6994)],
)
def test_the_interval_of_a_share(found: int, of: int, low: float, high: float) -> None:
    assert wilson(found, of) == pytest.approx((low, high), abs=5e-5)


async def test_questions_use_the_pipeline_with_history(tmp_path: Path) -> None:
    weekdays = Exchange(q="When does the shop open on weekdays?", a="The shop opens at nine.")
    questions = [
        asked(1, question="How many days until refunds are paid?"),
        asked(2, question="Who painted the Mona Lisa?", answerable=False, gold=()),
        asked(3, question="And on Saturdays?", gold=("at ten",), history=(weekdays,)),
        asked(4, question="How many days until refunds are paid?", gold=("30",), contexts=("Refunds take 30 days.",)),
    ]
    done: list[int] = []
    async with whole(tmp_path, ExtractiveEngine()) as run:
        requests = {one.id: request(one, "general", None) for one in questions}
        items = await ask_all(run.runs, questions, requests, 4, done.append)
        late = msgspec.structs.replace(requests["1"], deadline_s=0.001)
        failed = await ask_all(run.runs, questions[:1], {"1": late}, 1, done.append)
    assert [item.asked.id for item in items] == ["1", "2", "3", "4"]
    assert [item.grade for item in items if item.asked.answerable] == ["right", "right", "right"]
    assert items[0].seen.first_shown_s is not None
    assert requests["3"].conversation_history[0].role == "user"
    assert done == [1, 2, 3, 4, 1]
    assert (failed[0].grade, failed[0].seen.reason) == ("failed", "timeout")


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def run_command(*arguments: object) -> Result:
    return CliRunner().invoke(eval_questions_command, [str(argument) for argument in arguments])


#: language, a near miss of the demo documents, a question that they answer, words of that answer
NEAR = [
    (
        "en",
        "When does the cafeteria close on Fridays?",
        "How often must a student meet the personal tutor?",
        "twice a semester",
    ),
    ("ko", "매장 영업시간은 몇 시까지인가요?", "얼마 이상 주문하면 배송비가 무료인가요?", "50,000원 이상"),
    ("zh", "近视手术后多久可以开车？", "阿托品药瓶开封后可以使用多少天？", "28天"),
    ("fr", "À quelle heure ferme la piscine ?", "Combien de semaines dure le stage de fin d'études ?", "10 semaines"),
    ("ar", "ما اسم مدير المعهد؟", "ما هي درجة النجاح في كل مادة؟", "50 من 100"),
]


def test_demo_answers_its_questions_and_no_near_misses(tmp_path: Path) -> None:
    bring_in(tmp_path / "index", [str(Path(demo.__file__).parent / "documents")], only=True)
    lines: list[dict[str, object]] = []
    for language, near, neighbour, words in NEAR:
        lines.append({"id": f"near {language}", "question": near, "language": language, "answerable": False})
        lines.append({"id": f"next {language}", "question": neighbour, "language": language, "gold": [words]})
    lines += [
        {"id": each.id, "question": each.text, "language": each.language, "gold": ["not graded"]}
        for each in questions()
        if each.kind != "unanswerable"
    ]
    out = tmp_path / "out.json"
    file = write(tmp_path / "questions.jsonl", lines)
    result = run_command("--file", file, "--index", tmp_path / "index", "--json", out)
    assert result.exit_code == 0, result.output
    grades = {item["asked"]["id"]: item["grade"] for item in json.loads(out.read_text())["items"]}
    assert {grades.pop(f"near {language}") for language, *_ in NEAR} <= {"closest", "refused"}
    assert {grades.pop(f"next {language}") for language, *_ in NEAR} == {"right"}
    assert [name for name, grade in grades.items() if grade not in ("right", "beside")] == []


def test_eval_questions_over_several_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "refunds.md").write_text("# Refunds\n\nRefunds are paid within 14 days of the return.\n")
    bring_in(tmp_path / "indexes" / "shop", [str(pages)], only=True)
    refunds = {"question": "How many days until refunds are paid?", "gold": ["14 days"], "kind": "fact"}
    questions = write(
        tmp_path / "questions.jsonl",
        [
            {"id": "1", "collection": "shop", "language": "en", "note": "ignored", **refunds},
            {"id": "2", "collection": "bank", **refunds},
        ],
    )
    out = tmp_path / "out.json"
    result = run_command("--file", questions, "--index", tmp_path / "indexes", "--json", out)
    assert result.exit_code == 0, result.output
    assert "collection bank: no index, 1 questions left out; build it with" in result.stderr
    assert "1 of 1" in result.stdout
    written = json.loads(out.read_text())
    assert written["figures"]["right"]["share"] == 1.0
    assert written["left_out"] == ["2"]
    assert written["kind"]["fact"]["right"] == 1
    assert written["items"][0]["seen"]["citations"][0]["source_id"] == "refunds.md"
    assert not (tmp_path / "state").exists()  # nothing of it stays


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([{"id": "1", "question": "?"}], "1 is answerable but has no gold"),
        ([{"id": "1", "question": "?", "gold": ["x"]}] * 2, "two questions have the id 1"),
        ([{"id": "1", "question": " ", "gold": ["x"]}], "1: the question is empty"),
        ([{"id": "1", "question": "?", "gold": ["x"], "collection": "shop"}], "holds no index of these collections"),
        ([{"id": "1"}], "line 1"),
        ([], "has no lines"),
    ],
)
def test_bad_question_is_one_line(tmp_path: Path, lines: list[dict[str, object]], says: str) -> None:
    result = run_command("--file", write(tmp_path / "questions.jsonl", lines), "--index", tmp_path)
    assert result.exit_code in (1, 2)
    assert says in result.stderr.splitlines()[-1]
    assert not isinstance(result.exception, Exception)
