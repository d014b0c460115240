"""What speaks for and against a whole choice."""

import msgspec
import pytest
from msgspec.structs import replace

from actors.choosing.asked import holds, kind_of, measure_of, read_question
from actors.choosing.choose import choice_of, rank, to_show
from actors.choosing.signs import KNOWN, known, signs
from actors.choosing.weights import BELOW_MEDIUM, weights
from actors.question.resolved import resolved
from actors.selecting.chosen import rested_on
from bus.wire.messages import PassagesReady, QuestionAsked
from bus.wire.parts import Collection
from tests.actors.blocks import Piece, passages

HARBOUR: tuple[Piece, ...] = (
    ("heading", "Harbour"),
    ("prose", "The harbour of Lisbon has eleven quays. Ships wait outside."),
    ("heading", "Ferries"),
    ("prose", "A ferry crosses the water."),
)


def signs_of(question: str, pieces: tuple[Piece, ...] = HARBOUR) -> dict[str, float]:
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    found = passages(*pieces)
    ranked = rank(asked, found, weights())
    return signs(asked, ranked, to_show(asked, ranked), found)


@pytest.mark.parametrize(
    ("question", "sign", "there"),
    [
        ("How many quays has the harbour of Lisbon?", "no_count", False),
        ("How many passengers does the ferry carry?", "no_count", True),
        ("How many quays has the harbour of Lisbon?", "name", False),
        ("How many quays has the harbour of Bergen?", "name", True),
        ("Where does the ship wait?", "far", False),  # ships, waits: other forms
        ("Where do submarines dive?", "far", True),
        ("How many quays has the harbour of Lisbon in 2021?", "year", True),
        ("How many quays has harbour B of Lisbon?", "year", True),
    ],
)
def test_missing_names_lower_a_choice(question: str, sign: str, there: bool) -> None:
    assert bool(signs_of(question)[sign]) is there


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("What is the fee for grade 6?", "Grade: Grade 5 | Fee: 104", True),
        ("What is the fee for grade 5?", "Grade: Grade 5 | Fee: 104", False),
        ("What is the fee for grades 5 and 6?", "Grade: Grade 5 | Fee: 104", False),
        ("¿Cuánto dura el nivel 3?", "El nivel 2 dura un año.", True),
        ("¿Cuánto dura el nivel 3?", "Los niveles 2 y 3 duran un año.", False),
        ("When does room 4 open?", "The fee is paid at the desk from 9.", False),
    ],
)
def test_number_of_another_thing_of_that_name_is_none(question: str, text: str, missing: bool) -> None:
    assert bool(signs_of(question, (("prose", text),))["year"]) is missing


COST, KEEPS, NUMBER = "What does delivery cost?", "How long does the tea keep?", "phone number of the plumber"


@pytest.mark.parametrize(
    ("question", "text", "there"),
    [
        (COST, "Delivery costs 4 euros.", True),
        (COST, "Delivery is free of charge.", True),
        (COST, "Managers of delivery keep the costs low.", False),  # the question's own word
        (KEEPS, "The tea keeps for two years.", True),
        (KEEPS, "Keep the tea for 6 months.", True),
        (KEEPS, "Tea keeps cool, and costs 72 coins.", False),
        (NUMBER, "The plumber is on 01632 960 800.", True),
        (NUMBER, "Plumber: +34 600 123-456", True),
        (NUMBER, "For the plumber dial 118.", True),
        (NUMBER, "The plumber came on 2026-10-03 and in 2019 for 1,250.50.", False),
        (NUMBER, "The electrician is on 01632 960 800.", False),
        ("¿Cuánto cobra el taller de Clavell?", "El teatro cobra 180 €.", False),
        ("¿Cuánto cobra el taller de Clavell?", "El taller de Clavell cobra 75 €.", True),
    ],
)
def test_what_is_of_the_measure_asked_for(question: str, text: str, there: bool) -> None:
    assert signs_of(question, (("prose", text),))["no_count"] == float(not there)


@pytest.mark.parametrize(
    ("question", "piece", "answers"),
    [
        ("phone number of Elmwood school", ("table_row", "School: Elmwood | Fee: 1900 | Bus: 120"), False),
        ("phone number of Elmwood school", ("table_row", "School: Elmwood | Fee: 1900 | Phone: 01632 960 800"), True),
        ("address of the Rook chess club", ("prose", "The Rook chess club is open from 18:00."), False),
        ("address of the Rook chess club", ("prose", "The Rook chess club meets at 4 High Street."), True),
        ("诊所的地址是什么？", ("prose", "诊所周日休息。"), False),
        ("诊所的地址是什么？", ("prose", "诊所在中山路12号。"), True),
        ("What is the salary of Omar Fell?", ("prose", "Omar Fell works on Mondays at night."), False),
        ("What is the salary of Omar Fell?", ("prose", "Omar Fell is paid 900 euros."), True),
    ],
)
def test_nothing_answers_without_the_measure(question: str, piece: Piece, answers: bool) -> None:
    asked = read_question(resolved(QuestionAsked(question=question)), Collection())
    found = passages(piece)
    ranked = rank(asked, found, weights())
    assert (choice_of(asked, ranked, ranked[:1], found).probability > 0) is answers


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("What is the IP address of the server?", ""),
        ("How do I change my address?", ""),
        ("adresse de la crèche", "address"),
        ("¿Cuál es la dirección del notario?", "address"),
        ("학교 주소가 어디예요?", "address"),
        ("عنوان المدرسة", "address"),
        ("연봉은 얼마인가요?", "price"),
        ("店面的物业费每月多少？", "price"),
        ("一年免费几次？", ""),
        ("How long may I stay?", "duration"),
        ("How old is it?", ""),
        ("What is the plumber's phone number?", "phone"),
        ("May I use my phone here?", ""),
        ("numéro de téléphone du plombier", "phone"),
        ("teléfono del fontanero", "phone"),
        ("배관공 전화번호가 어떻게 되나요?", "phone"),
        ("水管工的电话是多少？", "phone"),
        ("ما هو رقم هاتف السباك؟", "phone"),
        ("몽골의 국가 전화번호가 뭐야?", ""),
    ],
)
def test_measure_of_a_question(question: str, measure: str) -> None:
    assert measure_of(question) == measure


@pytest.mark.parametrize(("question", "missing"), [("Who sails on 20 June?", False), ("Who sails on 21 June?", True)])
def test_row_of_another_day_lowers_a_choice(question: str, missing: bool) -> None:
    row = ("table_row", "Date: 2026-06-20 | Sails: Joris | Boat: Tern")
    assert bool(signs_of(question, (row,))["year"]) is missing


@pytest.mark.parametrize(
    ("term", "found"), [("quays", True), ("quay", True), ("quarrel", False), ("부두에서", True), ("기차", False)]
)
def test_other_form_of_a_word_matches(term: str, found: bool) -> None:
    assert (known(term, {"quays", "harbour", "부두에는"}) >= KNOWN) is found


def test_part_counts_the_best_hit_of_the_whole() -> None:
    asked = read_question(resolved(QuestionAsked(question="Where does the ferry cross?")), Collection())
    (one,) = passages(*HARBOUR[:2])
    (two,) = passages(*HARBOUR[2:])
    found = (msgspec.structs.replace(one, score=0.9), msgspec.structs.replace(two, score=0.2))
    for ranks, score in (((), 0.2), ((1, 0), 0.9)):
        of_part = replace(asked, ranks=ranks)
        ranked = rank(of_part, found, weights())
        assert ranked[0].unit.passage == 1
        assert signs(of_part, ranked, ranked[:1], found)["score"] == score


def test_a_year_is_the_same_in_digits_of_any_script() -> None:
    written = (("prose", "The ferry of 2021 crossed the water of ٢٠١٩."),)
    assert signs_of("Which ferry of ٢٠٢١ crossed the water of 2019?", written)["year"] == 0


def test_a_number_is_like_no_other() -> None:
    assert known("2022", {"2023"}) == 0
    assert known("2022", {"2022"}) == 1


@pytest.mark.parametrize(("city", "low"), [("Lisbon", False), ("Bergen", True)])
def test_confidence_without_a_name_of_the_question_is_low(city: str, low: bool) -> None:
    asked = read_question(
        resolved(QuestionAsked(question=f"Tell how many quays the harbour of {city} has")), Collection()
    )
    found = passages(*HARBOUR)
    ranked = rank(asked, found, weights())
    choice = replace(choice_of(asked, ranked, to_show(asked, ranked), found), probability=0.95)
    message = PassagesReady(question=resolved(QuestionAsked(question=asked.text)), passages=tuple(found), snapshot="s1")
    assert (rested_on(message, tuple(found), choice).probability == BELOW_MEDIUM) is low


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("max length of a title", "Titles have less than 30 characters.", True),
        ("combien d'étrangers max par equipe", "Un seul étranger est admis par équipe.", True),
        ("how often does the council meet", "It meets every second Monday.", True),
        ("how often does the council meet", "It meets by video.", False),
        ("salary of the chef", "The plan is paid for by the house.", False),
        ("prix du cours de violon", "Le cours est gratuit.", True),
        ("现在一个多少美元", "它可以用来付款。", False),
        ("몇 달러예요", "12달러입니다.", True),
        ("cuántos euros hay que poner", "Se ponen 20 euros.", True),
        ("كم دولار ثمن الكتاب", "الكتاب عن السفر.", False),
    ],
)
def test_sentence_has_what_is_asked_for(question: str, text: str, answers: bool) -> None:
    assert holds(kind_of(question), text, question) is answers
