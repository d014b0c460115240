"""What the documents give in brackets as another name, write with another space, or a profile lists, counts as the same thing; a
day counts as the same in any form."""

import pytest

from actors.choosing.aliases import aliases, listed
from actors.choosing.asked import read_question
from actors.choosing.features import read_units
from actors.choosing.units import units_of
from actors.question.profile import profile_of
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Collection
from tests.actors.blocks import passages


def pairs(question: str, *texts: str) -> set[tuple[str, str]]:
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    return {tuple(alias) for alias in aliases(asked, passages(*(("prose", text) for text in texts)))}


@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        ("OK镜适合谁？", ("夜间佩戴角膜塑形镜（OK镜）。", "角膜塑形镜适合儿童。"), {("ok镜", "角膜塑形镜")}),
        ("角膜塑形镜适合谁？", ("角膜塑形镜（OK镜）适合儿童。",), {("角膜塑形镜", "ok镜")}),
        ("What is TCE?", ("It does tail call elimination (TCE) at once.",), {("tce", "tail call elimination")}),
        ("What is tail call elimination?", ("It does tail call elimination (TCE).",), {("tail call elimination", "tce")}),
        ("What is a ferry?", ("It does tail call elimination (TCE) at once.",), set()),
        ("How high is the fee?", ("The fee (30) is due.",), set()),
        ("엄격모드는 어떻게 켜나요?", ("엄격 모드를 켜려면 첫 줄에 적는다.",), {("엄격모드", "엄격 모드")}),
        ("엄격 모드는 어떻게 켜나요?", ("엄격모드를 켜려면 첫 줄에 적는다.",), {("엄격 모드", "엄격모드")}),
        ("How is the front end built?", ("The frontend is built by make.",), {("front end", "frontend")}),
        ("How is the frontend built?", ("The front end is built by make.",), {("frontend", "front end")}),
        ("How is the frontend built?", ("The frontend is the front end.",), set()),
        ("Who sails on 20 June?", ("2026-06-20", "20/06/2026", "June 20", "2026-07-20"),
         {("20 june", "2026-06-20"), ("20 june", "20/06/2026"), ("20 june", "june 20")}),
        ("Who sails on 20 June 2025?", ("2026-06-20", "2025-06-20"), {("20 june", "2025-06-20")}),
        ("¿Quién navega el 1 de junio?", ("1er juin",), {("1 de junio", "1er juin")}),
        ("6월 20일에 누가 배를 써요?", ("2026. 6. 20.",), {("6월 20", "2026. 6. 20")}),
        ("6月20日谁用船？", ("20 يونيو",), {("6月20", "20 يونيو")}),
        ("Who sails in June?", ("2026-06-20",), set()),
        ("When is the AGM?", ("Annual general meeting on Wednesday",), {("agm", "annual general meeting")}),
        ("When is the fee due?", ("Fares are enormous. For each employee one.",), set()),
    ],
)  # fmt: skip
def test_names_in_brackets_are_synonyms(question: str, texts: tuple[str, ...], expected: set[tuple[str, str]]) -> None:
    assert pairs(question, *texts) == expected


def test_unit_with_a_synonym_has_the_name() -> None:
    asked = read_question(resolved(QuestionAsked(question="What does TCE save?")), Collection())
    found = passages(
        ("prose", "Tail call elimination (TCE) is an optimisation."), ("prose", "Tail call elimination saves memory.")
    )
    plain, named = (read_units(units_of(found), found, given)[-1] for given in ((), aliases(asked, found)))
    assert "tce" not in plain.bag
    assert "tce" in named.bag


def test_synonym_inside_a_word_is_no_name() -> None:
    asked = read_question(resolved(QuestionAsked(question="What is paid parental leave?")), Collection())
    texts = passages(
        ("prose", "There is paid parental leave (PPL)."), ("prose", "It opens applications."), ("prose", "PPL is new.")
    )
    _, inside, alone = read_units(units_of(texts), texts, aliases(asked, texts))
    assert "parental" not in inside.bag
    assert "parental" in alone.bag


def test_profile_lists_synonyms() -> None:
    synonyms = profile_of("myopia").synonyms
    assert ("ok镜", "角膜塑形镜") in {tuple(alias) for alias in listed("OK镜和低浓度阿托品哪个更适合？", synonyms)}
    assert listed("近视怎么办？", synonyms) == ()
