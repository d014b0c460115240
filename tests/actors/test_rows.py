"""A table row matches by a whole cell, names the requested cell, and shows only that cell if it is wide."""

import pytest

from actors.choosing.asked import Asked, read_question
from actors.choosing.rows import TOLD, look_up, told
from actors.gate.check import check_sentence, withholds
from actors.question.resolved import resolved
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Collection
from index.languages import LANGUAGES, of
from index.languages.tables.kinds import variants_in
from index.languages.words import terms
from index.text.passages import weigh
from prompts.contracts import Evidence

ICELAND = (
    "Name: Iceland | Dial: 354 | Capital: Reykjavik | ISO4217-currency_code: ISK | ISO4217-currency_name: Iceland Krona"
)


def asked(text: str) -> Asked:
    return read_question(resolved(QuestionAsked(question=text)), Collection())


def lead(text: str, row: str) -> str:
    best = look_up(asked(text), row).best
    return row[best.start : best.end] if best else ""


@pytest.mark.parametrize(
    ("question", "row", "cell"),
    [
        ("What is the dialling code of Iceland?", ICELAND, "Dial: 354"),
        ("capital of Iceland", ICELAND, "Capital: Reykjavik"),
        ("currency code of Iceland", ICELAND, "ISO4217-currency_code: ISK"),
        ("la moneda de Iceland", ICELAND, "ISO4217-currency_name: Iceland Krona"),
        ("quel est l'indicatif de Iceland ?", ICELAND, "Dial: 354"),
        ("When was the Thaler withdrawn?", "Coin: Thaler | WithdrawalDate: 1907", "WithdrawalDate: 1907"),
        ("몽골의 수도는 어디야?", "이름: 몽골 | 수도: 울란바토르 | 인구: 3000000", "수도: 울란바토르"),
        ("蒙古的首都是哪里", "国家: 蒙古 | 首都: 乌兰巴托 | 人口: 3000000", "首都: 乌兰巴托"),
        ("ما هي عاصمة منغوليا؟", "الاسم: منغوليا | العاصمة: أولان باتور | السكان: 3000000", "العاصمة: أولان باتور"),
        ("who has Tern on 20 June", "Date: 2026-06-20 | Boat: Tern | Owner: Joris", "Owner: Joris"),
        ("正山小种能放多久", "茶品: 正山小种 | 价格: 72 | 保质期: 两年", "保质期: 两年"),
        (
            "how much is the Tern in July",
            "Room: Tern (double) | Low (Nov–Mar): 62 | High (Jul–Aug): 98",
            "High (Jul–Aug): 98",
        ),
        (
            "how much is the Tern in February",
            "Room: Tern | Low (Nov–Mar): 62 | High (Jul–Aug): 98",
            "Low (Nov–Mar): 62",
        ),
        ("제비 방은 7월에 얼마예요?", "방: 제비 | 비수기 (11~3월): 62 | 성수기 (7~8월): 98", "성수기 (7~8월): 98"),
        (
            "how much is a viola lesson of 45 minutes",
            "For: Violin, viola | 30 min: 34 € | 45 min: 49 €",
            "45 min: 49 €",
        ),
        ("what does a violin lesson cost", "For: Violin, viola | Short: 34 € | Place: hall", "Short: 34 €"),
        ("puerto de la consola", "Servicio: Consola | Puerto: 8443 | Estado: activo", "Puerto: 8443"),
    ],
)
def test_requested_cell_is_selected(question: str, row: str, cell: str) -> None:
    assert lead(question, row) == cell


def test_row_without_the_requested_column_has_no_answer() -> None:
    found = look_up(asked("What is the population of Iceland?"), ICELAND)
    assert found.key > 0
    assert (found.column, found.best) == (0.0, None)


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("When was the boiler bought?", "Bought: 2019-11-05"),
        ("When does the warranty of the boiler end?", "Warranty until: 2024-11-04"),
        ("When is the boiler service?", ""),
    ],
)
def test_time_is_a_cell_with_a_time(question: str, cell: str) -> None:
    row = "Appliance: Boiler | Bought: 2019-11-05 | Warranty until: 2024-11-04 | Service phone: 900 555 045"
    assert lead(question, row) == cell


@pytest.mark.parametrize(
    ("cell", "named"),
    [("ORD-044444", True), ("ORD-044445", False), ("044444", False), ("ORD", False), ("`ORD-044444`", True)],
)
def test_code_matches_only_as_a_whole(cell: str, named: bool) -> None:
    row = f"Order: {cell} | Status: sent | Weight: 3 kg"
    assert (look_up(asked("What is the status of ORD-044444?"), row).key > 0) is named


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("How much is the apple cake?", "Price EUR: 24"),
        ("How much sugar goes into the apple cake?", ""),
        ("Combien de sucre dans l'apple cake ?", ""),
        ("apple cake里有多少糖?", ""),
    ],
)
def test_number_of_something_else_is_no_answer(question: str, cell: str) -> None:
    assert lead(question, "Article: Apple cake | Maker: Vogel | Price EUR: 24") == cell


def test_wide_row_shows_names_and_requested_cells() -> None:
    row = " | ".join([f"Column {n}: {'word ' * 9}{n}" for n in range(12)] + ["Name: Iceland", "Capital: Reykjavik"])
    assert weigh(row) > 600
    first = row.partition(" | ")[0]
    assert told(row, "What is the capital of Iceland?", "en") == f"{first} | Name: Iceland | Capital: Reykjavik"
    assert weigh(told(row, "Tell me about ships", "en")) <= TOLD
    assert told(ICELAND, "capital of Iceland", "en") == ICELAND


def test_cut_row_keeps_the_name_of_the_thing() -> None:
    others = " | ".join(
        f"{name}: yes (lecithin, almond, hazelnut)" for name in ("Milk", "Egg", "Nuts", "Sesame", "Soya", "Lupin")
    )
    row = f"Recipe: Chocolate fondant with sea salt | Gluten: no | {others} | May contain traces of: gluten"
    shown = told(row, "does the chocolate fondant contain gluten?", "en", lead="Gluten: no")
    assert shown == "Recipe: Chocolate fondant with sea salt | Gluten: no | May contain traces of: gluten"
    cited = Evidence(n=1, source_id="a.csv", title="Allergens", text=f"A list of allergens.\n{row}")
    assert not withholds(check_sentence(f"{shown} [1].", (cited,)))
    assert withholds(check_sentence(f"{shown.replace('no |', 'yes |')} [1].", (cited,)))


def test_every_column_word_is_reachable() -> None:
    tables = ((language, concept) for language in LANGUAGES for concept in of(language).columns)
    empty = [
        (language, concept, word)
        for language, concept in tables
        for word in variants_in(of(language).columns[concept])
        if not terms(word)
    ]
    assert empty == []
    assert all(variants_in(variants) for one in LANGUAGES for variants in of(one).columns.values())
