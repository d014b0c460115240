"""Which units are shown together, how a paragraph is cut into units, and what of a question is found in a text."""

import itertools
from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from actors.choosing.asked import read_question
from actors.choosing.choose import MOST_UNITS, Ranked, choice_of, lead_of, rank, to_show
from actors.choosing.features import FEATURES, words_of
from actors.choosing.units import LONG_PARAGRAPH, units_of
from actors.choosing.weights import weights
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Collection
from index.model import BlockKind
from tests.actors.blocks import Piece, passages

#: Their sum depends on the order.
UNEVEN = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.7}
SENTENCE = (
    "The old mill by the river grinds the corn of the whole valley in the late summer weeks of every single year."
)


def found(question: str, *paragraphs: str) -> tuple[Ranked, ...]:
    """The units of these paragraphs; one that begins with # is a heading, with | a row, with - an item of a list."""
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    kinds: dict[str, BlockKind] = {
        "#": "heading",
        "|": "table_row",
        "-": "list_item",
        "1": "list_item",
        "2": "list_item",
    }
    blocks: list[Piece] = [(kinds.get(each[0], "prose"), each) for each in paragraphs]
    return tuple(rank(asked, passages(*blocks), weights()))


def shown(question: str, shares: Sequence[float], paragraphs: Sequence[str]) -> list[str]:
    """The shown text of paragraphs with these shares of the probability."""
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    by_text = {each.unit.text: each for each in found(question, *paragraphs)}
    units = (by_text[text] for text in paragraphs if not text.startswith("#"))
    ranked = [
        Ranked(one.unit, -at, share, one.values, one.read)
        for at, (share, one) in enumerate(zip(shares, units, strict=True))
    ]
    return [each.unit.text for each in to_show(asked, sorted(ranked, key=lambda each: -each.share))]


COVER = (
    "# What we cover", "We cover loss of and damage to the goods, wherever they are carried.",
    "# What we do not cover", "- Goods that were packed badly.", "- Delay.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is not covered?", "- Goods that were packed badly."),
        ("What is covered?", COVER[1]),
        ("Why is a claim for goods not paid?", COVER[1]),  # no choice between the sections
    ],
)
def test_denial_asks_for_the_section_that_excludes(question: str, first: str) -> None:
    assert found(question, *COVER)[0].unit.text == first


def test_exclusions_are_shown_whole() -> None:
    items = [f"- {paragraph(word, 140)}" for word in ("alder", "birch", "cedar", "elder", "fir")]
    for heading, number in (("# Exclusions", 5), ("# Inclusions", 4)):
        assert len(shown(heading.strip("# "), [0.3, 0.2, 0.1, 0.1, 0.1], [heading, *items])) == number


def paragraph(word: str, weight: int) -> str:
    return (f"{word.capitalize()} " * weight)[: weight - 1].strip() + "."


@pytest.mark.parametrize(("weights", "wanted"), [((560, 280, 280), [0]), ((280, 560, 280), [0, 2])])
def test_likeliest_units_that_fit_are_shown(weights: Sequence[int], wanted: list[int]) -> None:
    texts = [paragraph(word, weight) for word, weight in zip(("alder", "birch", "cedar"), weights, strict=True)]
    assert shown("Where is the mill?", (0.3, 0.28, 0.27), texts) == [texts[at] for at in wanted]


def test_rest_of_a_paragraph_precedes_what_stands_elsewhere() -> None:
    first, rest, other = (f"{word} " * 33 + "grows." for word in ("Alder", "Birch", "Cedar"))
    asked = read_question(resolved(QuestionAsked(question="Where is the mill?")), Collection())
    shares = dict(zip((first, other, rest), (0.5, 0.3, 0.001), strict=True))
    units = {each.unit.text: each for each in found("Where is the mill?", f"{first} {rest}", "# Other", other)}
    ranked = [msgspec.structs.replace(units[text], share=share) for text, share in shares.items()]
    assert [each.unit.text for each in to_show(asked, ranked)] == [first, rest]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What should I do about heat stroke?", "2. Move into the shade."),
        ("Who gets heat stroke?", "Heat stroke is rare in the north."),
    ],
)
def test_steps_below_a_heading_are_as_likely_as_all_of_them(question: str, best: str) -> None:
    steps = ("1. Call for help.", "2. Move into the shade.", "2. Take off clothes.")
    assert found(question, "# Heat stroke", *steps, "# Other", "Heat stroke is rare in the north.")[0].unit.text == best


@pytest.mark.parametrize(
    "step",
    [
        "Step 1: Boil it.",
        "第一步：煮水。",
        "Étape 1 : Faites bouillir.",
        "Paso 1: Hiérvelo.",
        "1단계: 끓인다.",
        "الخطوة الأولى: اغلِه.",
    ],
)
def test_paragraph_that_is_a_step_is_an_item(step: str) -> None:
    assert [unit.kind for unit in units_of(passages(("prose", step), ("prose", "Boil it.")))] == ["list_item", "prose"]


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("How do I view the usage of the disk?", "View disk usage.", False),
        ("How do I view the usage of the disk?", "View the disk usage by calling the command df with a folder.", True),
        ("What is the usage of the disk?", "View disk usage.", True),
    ],
)
def test_caption_tells_no_manner(question: str, text: str, answers: bool) -> None:
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    ranked = found(question, text)
    assert (choice_of(asked, ranked, ranked[:1], passages(("prose", text))).probability > 0) is answers


def test_rows_that_deny_it_come_first_where_the_question_does() -> None:
    rows = (
        "| No: 1 | Member: Tom | Paid: yes",
        "| No: 2 | Member: Ines | Paid: no",
        "| No: 3 | Member: Gus | Paid: yes",
    )
    ranked = found("Which member has not paid?", *rows)
    assert "Ines" in ranked[0].unit.text
    assert ranked[1].share < 0.01


def test_nothing_without_the_code_stands_beside_what_has_it() -> None:
    asked = read_question(resolved(QuestionAsked(question="The boiler shows BX-9, what should I do?")), Collection())
    texts = ("Fault BX-9 of the boiler: call the fitter.", "Let the boiler cool and open both valves.")
    ranked = [replace(each, share=0.4) for each in found(asked.text, texts[0], "# Pressure", texts[1])]
    assert [each.unit.text for each in ranked] == list(texts)
    assert [each.unit.text for each in to_show(asked, ranked)] == [texts[0]]


def test_copies_count_as_one() -> None:
    ranked = found("Where is the old mill?", "The mill is old.", "# Other", "The mill is old.", "The old mill is tall.")
    alone = found("Where is the old mill?", "The mill is old.", "# Other", "The old mill is tall.")
    shares = [next(each.share for each in units if each.unit.text == "The mill is old.") for units in (ranked, alone)]
    assert shares[0] > shares[1]
    assert min(each.share for each in ranked) == 0


@pytest.mark.parametrize("shares", [(0.6, 0.005), (0.005, 0.004)])
def test_unlikely_unit_elsewhere_is_not_shown(shares: Sequence[float]) -> None:
    texts = ["The mill is here.", "# Rye", "Rye is sown."]
    assert shown("Where is the mill?", shares, texts) == ["The mill is here."]


def test_unit_elsewhere_needs_part_of_the_best_share() -> None:
    texts = ["The mill is here.", "# Rye", "Rye is sown in the long autumn."]
    assert shown("Where is the mill?", (0.9, 0.05), texts) == texts[:1]
    assert shown("Where is the mill?", (0.5, 0.05), texts) == [texts[0], texts[2]]


def test_row_beside_a_sentence_needs_part_of_its_share() -> None:
    texts = ["The mill is here.", "|Visit: every month|"]
    assert shown("Where is the mill?", (0.9, 0.05), texts) == texts[:1]
    assert shown("Where is the mill?", (0.5, 0.05), texts) == texts


@pytest.mark.parametrize(("question", "whole"), [("How is it milled?", True), ("Where is the mill?", False)])
def test_list_of_steps_is_shown_whole(question: str, whole: bool) -> None:
    steps = [
        "- Clean the corn.",
        "- Pour it in.",
        "- Turn the wheel.",
        "- Sift the flour.",
        "- Fill the sacks.",
        "- Sweep up.",
    ]
    found_steps = shown(question, (0.001, 0.001, 0.001, 0.5, 0.001, 0.001), steps)
    assert (sorted(found_steps) == sorted(steps)) == whole
    assert found_steps[0] == steps[3]
    near, far = "Never put a hand into the wheel.", "The mill is near the bridge over the brook."
    found_steps = shown(question, (0.001, 0.001, 0.001, 0.5, 0.001, 0.001, 0.0, 0.0), [*steps, near, far])
    assert (near in found_steps) == whole
    assert far not in found_steps


def test_long_list_of_steps_begins_with_the_first() -> None:
    steps = [f"{at}. {SENTENCE}" for at in range(1, 15)]
    kinds: list[Piece] = [("list_item", step) for step in steps]
    asked = read_question(resolved(QuestionAsked(question="How does the mill grind corn?")), Collection())
    ranked = sorted(rank(asked, passages(*kinds), weights()), key=lambda each: not each.unit.text.startswith("7."))
    assert {each.unit.text for each in to_show(asked, ranked)} == {*steps[:10]}


def test_number_of_an_item_is_no_number_that_is_asked_for() -> None:
    asked = read_question(resolved(QuestionAsked(question="How many mills are there?")), Collection())
    items: list[Piece] = [("list_item", "1. The mills are old."), ("list_item", "2. The valley has 12 mills.")]
    forms = {each.unit.text[:1]: each.value("form") for each in rank(asked, passages(*items), weights())}
    assert forms["1"] == 0 < forms["2"]


@pytest.mark.parametrize(("question", "first"), [("the old mill", 0), ("the sails of the old mill", 1)])
def test_name_of_a_section_is_answered_from_its_beginning(question: str, first: int) -> None:
    texts = ["# The old mill", "It grinds the corn of the whole valley.", "The sails turn from spring to autumn."]
    assert shown(question, (0.1, 0.8), texts)[0] == texts[1 + first]


def test_neighbours_shown_in_any_order_are_one_slice() -> None:
    question, texts = (
        "Where is the mill?",
        [f"{word} is far from the old mill." for word in ("Alder", "Birch", "Cedar")],
    )
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    units = {each.unit.text: each for each in found(question, *texts)}
    choice = choice_of(asked, tuple(units.values()), [units[texts[at]] for at in (0, 2, 1)], passages(("prose", "x")))
    assert choice.slices() == [(0, 0, units[texts[2]].unit.end)]


def test_section_fills_the_room() -> None:
    texts = ["The mill is here.", "It is old.", "It is open on Mondays.", "# Rye", "Rye is sown."]
    assert shown("Where is the mill?", (0.6, 0.005, 0.004, 0.003), texts) == texts[:3]


def test_greeting_fills_no_room() -> None:
    texts = ["The mill is here.", "Dear Miller", "It is old.", "Opening times", "Thank you,\nAnn"]
    assert shown("Where is the mill?", (0.6, 0.005, 0.004, 0.003, 0.05), texts) == [texts[0], texts[2]]


def test_row_fills_no_room() -> None:
    texts = ["The mill is here.", "| Rye | 3 sacks |", "It is old."]
    assert shown("Where is the mill?", (0.6, 0.004, 0.003), texts) == [texts[0], texts[2]]


@pytest.mark.parametrize(
    ("question", "row", "sure"),
    [("Who pays for the mill?", "Rye pays: yes", True), ("Who has not paid for the mill?", "Rye has paid: yes", False)],
)
def test_rows_that_lack_something_are_not_chosen_for_sure(question: str, row: str, sure: bool) -> None:
    ranked = found(question, f"|{row}")
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    choice = choice_of(asked, ranked, ranked[:1], passages(("table_row", row)))
    assert (choice.probability > 0) == sure


FORMS = [
    "|Scout: Ada | form: received | fee: paid 3 May",
    "|Scout: Ben | form: missing | fee: paid 4 May",
    "|Scout: Cy | form: received",
]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Who has not handed in the form?", FORMS[1]),
        ("Who has not paid the fee?", FORMS[2]),  # its cell is empty
        ("Whose form is missing?", FORMS[1]),
        ("Who has paid the fee on 3 May?", FORMS[0]),
    ],
)
def test_rows_that_lack_what_is_denied_come_first(question: str, first: str) -> None:
    assert found(question, *FORMS)[0].unit.text == first


def test_rows_with_an_empty_cell_are_shown_beside_those_that_deny() -> None:
    rows = [
        "|Name: Ada | from: 3 July | paid: yes",
        "|Name: Ben | from: 10 July",
        "|Name: Cy | from: 12 July | paid: no",
    ]
    asked = read_question(resolved(QuestionAsked(question="Who has not paid?")), Collection())
    assert {each.unit.text for each in to_show(asked, found("Who has not paid?", *rows))} == {*rows[1:]}


@pytest.mark.parametrize(
    ("row", "first"),
    [("|Guest: Ada | room: Tern | notes: dog", False), ("|Animal: dogs | room: Tern | allowed: no", True)],
)
def test_what_was_done_is_no_rule(row: str, first: bool) -> None:
    rule = "Dogs are welcome in the Gannet and the Heron only."
    assert (found("Are dogs allowed in the Tern room?", row, rule)[0].unit.text == row) is first


def test_what_is_forbidden_is_not_denied() -> None:
    dishes = ["|Dish: Noodles | allergens: peanut, wheat", "|Dish: Rice | allergens: none"]
    assert found("Which dishes can a guest with a peanut allergy not eat?", *dishes)[0].unit.text == dishes[0]


def test_entries_of_contents_are_no_units() -> None:
    texts = ["Titles for Smiths", "handbook.md", "The mill is here.", "# Titles for Smiths", "There are three levels."]
    assert [each.unit.text for each in found("Where is the mill?", *texts)] == [texts[2], texts[4]]


def test_units_are_few_and_distinct() -> None:
    texts = [f"Mill number {name} stands here." for name in ("one", "two", "three", "four", "five", "six", "seven")]
    assert shown("Where is the mill?", (0.1,) * 7, texts) == texts[:MOST_UNITS]


def test_long_paragraph_is_split_into_whole_sentences() -> None:
    text = " ".join([SENTENCE] * 4)
    units = units_of(passages(("prose", text)))
    assert [each.text for each in units] == [f"{SENTENCE} {SENTENCE}"] * 2
    assert all(each.weight <= LONG_PARAGRAPH for each in units)


@pytest.mark.parametrize(
    ("question", "text", "lead"),
    [
        ("What does the display show at E04?", "The display shows E12: too hot. E04: no water.", "E04: no water."),
        ("How many colour pages does the printer print?", "The colour printer is a Pico M73. It prints 300 pages.",
         "It prints 300 pages."),
        ("When is the tank emptied?", "We cannot come on Monday. We come on Friday. The tank lorry needs 3.2 m.",
         "We come on Friday."),
    ],
)  # fmt: skip
def test_lead_has_the_codes_the_number_and_the_date(question: str, text: str, lead: str) -> None:
    (one,) = found(question, text)
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    start, end = lead_of(asked, one.read)
    assert text[start:end] == lead


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("When do ferries sail?", "The ferryman waits.", "The gate is shut."),
        ("여객선 운항 시간", "여객선운항이 끝났다.", "창고가 비었다."),
        ("勾芡", "勾芡以后起锅。", "米饭要闷。"),
        ("How is the automobile repaired?", "The car is mended.", "The gate is shut."),
    ],
)
def test_compounds_and_other_words_for_it_are_near(question: str, near: str, far: str) -> None:
    place = FEATURES.index("near_body")
    by_text = {each.unit.text: each.values[place] for each in found(question, near, far)}
    assert by_text[near] > by_text[far]


@pytest.mark.parametrize(("text", "share"), [("Burns heal.", 1.0), ("Burnout heals.", 4 / 7), ("Rest heals.", 0.0)])
def test_a_word_inside_another_counts_in_part(text: str, share: float) -> None:
    (unit,) = found("A burn?", text)
    assert unit.values[FEATURES.index("covered")] == pytest.approx(share)


def test_a_text_is_read_once() -> None:
    assert words_of("The ferries sail.") is words_of("The ferries sail.")


def test_weight_does_not_depend_on_set_order() -> None:
    asked = replace(read_question(resolved(QuestionAsked(question="mill")), Collection()), terms=UNEVEN)
    assert {asked.weight_of(dict.fromkeys(order).keys()) for order in itertools.permutations(UNEVEN)} == {
        sum(UNEVEN.values())
    }


def test_question_with_foreign_names_keeps_search_signs() -> None:
    collection = Collection(variants={"fr": "the river of Allemagne"})
    asked = replace(read_question(resolved(QuestionAsked(question="the river of Germany")), collection), ranks=(1, 0))
    variant = asked.in_language("fr")
    assert variant.terms.keys() != asked.terms.keys()
    assert variant.ranks == (1, 0)
