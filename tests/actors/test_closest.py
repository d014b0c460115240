"""The closest passages: when there are any, in which order, cut where, and with what marked."""

from typing import get_args

import msgspec
import pytest
from groundwire.wire import Block

from actors.judge_relevance import judge_relevance
from actors.judge_sufficiency import judge_sufficiency
from actors.outcome.closest import LONGEST, MOST, closest
from actors.question.resolved import resolved
from actors.selecting.chosen import needed
from bus.wire.messages import PassagesJudged, PassagesReady, PassagesRetrieved, QuestionAsked
from bus.wire.parts import Passage
from bus.wire.settled import Settled
from index.languages import LANGUAGES
from prompts import contracts, notices
from prompts.vocabulary import Reason
from tests.actors.scripted_powers import ScriptedAsk
from tests.message_samples import LANES, OPENING, REFUNDS, passage, question

SHOP = passage("opening.md", OPENING, score=0.25)


def ended(*passages: Passage, reason: Reason = "no_evidence", **fields: object) -> Settled:
    asked = fields.pop("question", question())
    message = PassagesReady(question=asked, passages=passages, snapshot="s1", rounds=2)  # type: ignore[arg-type]
    return closest(message, reason, passages, **fields).settled  # type: ignore[arg-type]


def marked(settled: Settled) -> list[list[str]]:
    return [[p.text[start:end] for start, end in p.marked] for p in settled.passages]


def test_closest_ending_claims_nothing_and_marks_matches() -> None:
    found = ended(passage(), SHOP, probability=0.2)
    assert (found.outcome, found.reason, found.probability, found.snapshot, found.rounds) == (
        "closest", "no_evidence", 0.2, "s1", 2,
    )  # fmt: skip
    assert found.answer == "No certain answer was found in the documents. These passages come closest:"
    assert marked(found) == [["Refunds", "paid", "days", "refunded"], []]
    (first, _) = found.passages
    assert (first.source_start, first.source_end, first.text, first.score) == (100, 100 + len(REFUNDS), REFUNDS, 0.75)


@pytest.mark.parametrize(("probability", "outcome"), [(0.05, "refused"), (0.3, "closest")])
def test_passage_that_may_well_answer_is_near(probability: float, outcome: str) -> None:
    other = question(text="Xylophone tuning")
    assert ended(passage(), question=other, probability=probability).outcome == outcome


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_has_a_text_in_every_language(language: str, reason: Reason) -> None:
    found = ended(passage(), reason=reason, question=question(language=language), missing=("§7",), refuse_reason="§8")
    assert (found.outcome, found.reason) == ("closest", reason)
    assert found.answer.endswith(notices.text("replies", "closest_passages", language))
    assert ("§7" in found.answer, "§8" in found.answer) == (reason == "insufficient", reason == "model_refused")


def test_missing_part_is_named_once() -> None:
    found = ended(
        passage(), reason="insufficient", question=question(), missing=("How long?", "How long?", "Paid? How long?")
    )
    assert (found.answer.count("How long"), found.detail) == (1, "How long?")


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "not in the language of your question, but in French and Korean"),
        ("fr", "ils sont en français et coréen"),
        ("ko", "프랑스어 및 한국어로"),
        ("zh", "法语和韩语"),
        ("ar", "الفرنسية والكورية"),
        ("es", "francés y coreano"),
    ],
)
def test_across_languages_any_passage_is_near(language: str, told: str) -> None:
    asked = question(text="?", language=language)
    found = ended(SHOP, question=asked, languages=("fr", "ko"))
    assert found.outcome == "closest"
    assert told in found.answer


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("직원의 유급 휴가는 며칠입니까?", "closest"), ("프린터 용지는 어디에 있습니까?", "refused")],
)
def test_passage_in_another_language_is_near_by_its_meaning(text: str, outcome: str) -> None:
    own = passage(text="주차장은 일곱 시에 열립니다.", title="", language="ko")
    other = passage(text="Every employee has 25 days of paid holiday a year.", title="", language="en")
    found = ended(own, other, question=question(text=text, language="ko"))
    assert found.outcome == outcome
    assert ("영어" in found.answer) == (outcome == "closest")


@pytest.mark.parametrize("first", ["ko", "en"])
def test_order_of_a_search_that_begins_in_another_language_stays(first: str) -> None:
    own = passage("own.md", text="직원의 주차장은 일곱 시에 열립니다.", title="", language="ko")
    other = passage("other.md", text="Every employee has 25 days of paid holiday a year.", title="", language="en")
    passages = sorted((own, other), key=lambda one: one.language != first)
    asked = question(text="직원의 유급 휴가는 며칠입니까?", language="ko")
    found = ended(*passages, question=asked, best=((passages.index(own), 0, 5),))
    assert [one.source_id for one in found.passages] == [one.source_id for one in passages]


@pytest.mark.parametrize(
    ("passages", "changes"),
    [
        ((), {}),
        ((), {"languages": ("fr",)}),
        ((passage("garden.md", "Tulips bloom in April.", title="Garden"),), {}),
        ((passage(),), {"question": question(text="Who is it?")}),
        ((passage(),), {"question": question(style="hint")}),
        ((passage(),), {"question": question(text="Solve the exercise about refunds", profile="tutor")}),
    ],
)
def test_without_near_passages_it_is_refused(passages: tuple[Passage, ...], changes: dict[str, object]) -> None:
    found = ended(*passages, **changes)
    assert (found.outcome, found.passages) == ("refused", ())
    assert found.answer == notices.reason_text("no_evidence", "en")


def test_matching_title_file_or_heading_is_near() -> None:
    assert ended(passage("a.md", "It takes a while.", title="Refunds")).outcome == "closest"
    assert ended(passage("a.md", "It takes a while.", title="", headings=("Shop", "Refunds"))).outcome == "closest"
    assert ended(passage("2025-refunds.md", "It takes a while.", title="Shop")).outcome == "closest"


def test_conversation_words_are_marked_too() -> None:
    asked = question(text="And on Saturdays?", topic="shop opening")
    assert marked(ended(SHOP, question=asked)) == [["shop opens", "Saturdays", "opens"]]


def test_passages_are_distinct_ordered_and_five_at_most() -> None:
    many = [passage(f"{n}.md", f"{REFUNDS} Page {n}.", score=n / 10) for n in range(8)]
    found = ended(*many, many[0], best=((6, 0, 10), (3, 0, 10), (6, 20, 30)))
    assert [p.source_id for p in found.passages] == ["6.md", "3.md", "0.md", "1.md", "2.md"]
    assert len(found.passages) == MOST
    assert [p.source_id for p in ended(SHOP, passage(), SHOP).passages] == ["opening.md", "refunds.md"]


def test_document_out_of_date_stands_behind_its_replacement_and_says_so() -> None:
    old = passage("conditions-2024.md", "Refunds take 30 days.", title="Conditions 2024")
    new = passage("conditions-2025.md", "Refunds take a week.", title="Conditions 2025")
    ended_itself = passage("note.md", "This notice is obsolete. Refunds by cheque.", title="")
    found = ended(old, SHOP, ended_itself, new).passages
    assert [(p.source_id, p.outdated) for p in found] == [
        ("conditions-2025.md", msgspec.UNSET), ("conditions-2024.md", "Conditions 2025"),
        ("opening.md", msgspec.UNSET), ("note.md", ""),
    ]  # fmt: skip
    assert ended(old, new, question=question(text="Refunds in 2024")).passages[0].outdated is msgspec.UNSET


def test_only_known_languages_are_named() -> None:
    told = ended(SHOP, question=question(text="?", language="fr"), languages=("en", "und")).answer
    assert "ils sont en anglais." in told
    told = ended(SHOP, question=question(text="?", language="fr"), languages=("und",)).answer
    assert told == "Aucune réponse certaine n’a été trouvée dans les documents. Voici les passages les plus proches :"


def test_minutes_are_not_out_of_date_for_later_ones() -> None:
    minutes = [passage(f"minutes-2025-0{n}-17.md", f"Refunds take {n} days.", title="") for n in (3, 4)]
    assert [each.outdated for each in ended(*minutes).passages] == [msgspec.UNSET, msgspec.UNSET]


def blocks_of(texts: list[str], at: int = 100) -> tuple[str, tuple[Block, ...]]:
    blocks = []
    for text in texts:
        blocks.append(Block(start=at, end=at + len(text)))
        at += len(text) + 2
    return "\n\n".join(texts), tuple(blocks)


PARAGRAPHS = [f"Paragraph {n} speaks of many things. " + "It goes on. " * 30 + f"End {n}." for n in range(8)]


@pytest.mark.parametrize("at", range(8))
def test_long_passage_is_cut_around_its_best_unit(at: int) -> None:
    text, blocks = blocks_of(PARAGRAPHS)
    long = passage(text=text, blocks=blocks)
    unit = text.index(f"Paragraph {at}")
    (shown,) = ended(long, question=question(text="paragraph"), best=((0, unit, unit + 20),)).passages
    assert f"Paragraph {at} " in shown.text
    assert len(shown.text) <= LONGEST
    assert shown.text == text[shown.source_start - 100 : shown.source_end - 100]
    assert shown.text.split("\n\n") == [p for p in PARAGRAPHS if p in shown.text]
    (found,) = ended(long, question=question(text=f"What is at the end {at}?")).passages
    assert f"End {at}." in found.text


def test_best_sentence_of_a_passage_is_the_chosen_one() -> None:
    start = REFUNDS.index("refunded") - 10
    first, other = ended(SHOP, passage(), best=((1, start, start + 20), (0, 0, 5))).passages
    assert first.best
    assert first.text[slice(*first.best)] == REFUNDS[start : start + 20]
    assert other.best == (0, 5)


def test_cut_long_block_keeps_its_best_unit() -> None:
    text, blocks = blocks_of(
        ["".join(f"Sentence {n} is one of many in a row. " for n in range(60)).strip(), "Another."]
    )
    unit = text.index("Sentence 30")
    (shown,) = ended(
        passage(text=text, blocks=blocks), question=question(text="row"), best=((0, unit, unit + 5),)
    ).passages
    assert "Sentence 30 " in shown.text
    assert shown.text.startswith("Sentence")


@pytest.mark.parametrize("text", ["word " * 900, "x" * 4000, "A sentence about refunds. " * 200])
@pytest.mark.parametrize("blocks", [False, True])
def test_text_without_blocks_is_cut_too(text: str, blocks: bool) -> None:
    long = passage(text=text, blocks=(Block(start=100, end=100 + len(text), kind="code"),) if blocks else ())
    (shown,) = ended(long, best=((0, 2000, 2010),)).passages
    assert 0 < len(shown.text) <= LONGEST
    assert shown.text == text[shown.source_start - 100 : shown.source_end - 100]


def test_link_opens_the_place_with_its_headings() -> None:
    text = "# Fees\n\nThe fee for refunds is five euros."
    blocks = (Block(start=100, end=106, kind="heading", level=2, anchor="fees"), Block(start=108, end=100 + len(text)))
    (shown,) = ended(passage(text=text, blocks=blocks, headings=("Shop",))).passages
    assert (shown.url, shown.headings) == ("https://example.org/refunds.md#fees", ("Shop", "Fees"))
    assert (shown.text, shown.source_start) == ("The fee for refunds is five euros.", 108)
    (bare,) = ended(passage(text=text, blocks=blocks[:1], headings=("Shop",)), question=question(text="fees?")).passages
    assert bare.text == text


def test_best_sentence_in_another_section_leaves_its_heading_in_the_text() -> None:
    text = "# Fees\n\nFive euros.\n\n# Refunds\n\nRefunds take a week."
    best = text.index("Refunds take")
    blocks = (
        Block(start=100, end=106, kind="heading", level=2),
        Block(start=108, end=119),
        Block(start=121, end=130, kind="heading", level=2),
        Block(start=100 + best, end=100 + len(text)),
    )
    one = passage(text=text, blocks=blocks, headings=("Shop",))
    (shown,) = ended(one, best=((0, best, len(text)),)).passages
    assert (shown.headings, shown.text) == (("Shop",), text)
    (named,) = ended(
        msgspec.structs.replace(one, blocks=(*blocks[:2], msgspec.structs.replace(blocks[2], level=3), blocks[3])),
        best=((0, best, len(text)),),
    ).passages
    assert (named.headings, named.text) == (("Shop", "Fees"), text[8:])
    (first,) = ended(one, best=((0, 8, 19),)).passages
    assert (first.headings, first.text) == (("Shop", "Fees"), text[8:])


async def test_rejected_passages_are_shown_but_never_evidence() -> None:
    lane = PassagesRetrieved(
        question=question(), sub_query=LANES[0], plan=LANES[:1], round=1, passages=(passage(), SHOP), snapshot="s1"
    )
    nothing = contracts.Relevance(
        sub_query_id="", sub_query_statement="", relevant_extracts=(), sub_answer="", confidence="low", missing_aspects=()
    )  # fmt: skip
    judged = await judge_relevance.handle(lane, ScriptedAsk({"judge_relevance": nothing}))
    assert isinstance(judged, PassagesJudged)
    assert (judged.passages, judged.near) == ((), (passage(), SHOP))
    enough = contracts.Sufficiency(
        is_sufficient=True,
        confidence="high",
        missing_critical_aspects=(),
        reasoning="",
        additional_sub_queries=(),
    )
    kept = msgspec.structs.replace(judged, passages=(SHOP,), near=(passage(), SHOP))
    ready = await judge_sufficiency.handle((judged, kept), ScriptedAsk({"judge_sufficiency": enough}))
    assert isinstance(ready, PassagesReady)
    assert (ready.passages, ready.near) == ((SHOP,), (passage(),))


def test_another_name_of_the_thing_is_near() -> None:
    """The profile says that a 塑形镜 is a 角膜塑形镜, and a 副反应 a 不良反应."""
    found = ended(
        passage("l.md", "角膜塑形镜只能夜间佩戴。"),
        question=question(text="塑形镜要钱吗", asked="塑形镜要钱吗", language="zh", profile="myopia"),
    )
    assert (found.outcome, marked(found)) == ("closest", [["角膜塑形镜"]])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "How much did I spend at the mill in March?"),
        ("fr", "Combien ai-je dépensé au moulin en mars ?"),
        ("es", "¿Cuánto gasté en el molino en marzo?"),
        ("ko", "3월에 방앗간에서 얼마 썼어?"),
        ("zh", "我三月在磨坊花了多少钱？"),
        ("ar", "كم أنفقت في الطاحونة في مارس؟"),
    ],
)
def test_no_sum_is_made(language: str, text: str) -> None:
    asked = resolved(QuestionAsked(question=text, language=language))
    assert needed(asked) == notices.text("replies", "no_sum", language)


@pytest.mark.parametrize("text", ["How much did the mill spend in March?", "What did I order?", "下单花了多少天？"])
def test_amount_that_a_document_may_state_is_looked_up(text: str) -> None:
    assert needed(resolved(QuestionAsked(question=text))) == ""


def test_near_passages_in_another_language_take_turns() -> None:
    own = [passage(f"{n}.md", f"Refunds are listed on page {n}.", score=0.5) for n in range(5)]
    far = passage("fr.md", "Le four chauffe. Le directeur signe les remboursements.", language="fr", score=0.2)
    asked = question(text="Who signs refunds?")
    best = [(at, 0, len(one.text)) for at, one in enumerate(own)]
    found = ended(*own, far, question=asked, best=best)
    assert [one.source_id for one in found.passages] == ["0.md", "fr.md", "1.md", "2.md", "3.md"]
    assert (
        found.passages[1].text[slice(*found.passages[1].best or ())] == "Le directeur signe les remboursements."
    )  # the sentence nearest in meaning
    first = [(at + 1, start, end) for at, start, end in best]
    found = ended(far, *own, question=asked, best=first)
    assert [one.source_id for one in found.passages] == ["fr.md", "0.md", "1.md", "2.md", "3.md"]
    other = msgspec.structs.replace(far, text="Le four chauffe à neuf heures.")
    assert "fr.md" not in {one.source_id for one in ended(*own, other, question=asked, best=best).passages}
