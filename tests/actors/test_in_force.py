"""What is in force comes first: of versions the newest, of minutes the last that speak of the matter."""

import msgspec
import pytest
from groundwire.wire import About, Block

from actors.choosing.asked import read_question
from actors.choosing.choose import choose, rank
from actors.choosing.units import units_of
from actors.choosing.weights import weights
from actors.evidence.standing import is_later, out_of_date, replaced_in_part
from actors.select_evidence import select_evidence
from bus.powers.protocols import unnoted
from bus.wire.messages import AnswerRequested, PassagesReady
from bus.wire.parts import Collection, Passage
from prompts import contracts
from tests.actors.blocks import Piece, passages
from tests.actors.scripted_powers import ScriptedAsk
from tests.message_samples import passage, question


def minutes(*texts: str) -> list[Passage]:
    """One passage a month, from February on."""
    return [
        passage(f"minutes/2026-0{month}-17.md", text, title=f"Meeting {month}") for month, text in enumerate(texts, 2)
    ]


async def first_shown(text: str, *found: Passage) -> str:
    """The source id of the first span of an answer, or of the first of the closest passages."""
    ready = PassagesReady(question=question(text=text), passages=found, snapshot="s1")
    ended = await select_evidence.handle(ready, ScriptedAsk(), unnoted)
    shown = ended.evidence if isinstance(ended, AnswerRequested) else ended.settled.passages
    return shown[0].source_id


@pytest.mark.parametrize("has_model", [False, True])
async def test_text_in_force_precedes_what_it_replaces(has_model: bool) -> None:
    old, new = (
        passage(
            f"refunds-{year}.md", f"Refunds are paid within {days} days of the return.", title=f"Refund policy {year}"
        )
        for year, days in ((2022, 7), (2025, 14))
    )
    asked = question(text="Within how many days of the return are refunds paid?", has_model=has_model)
    spans = tuple(contracts.PickedSpan(passage=at, text=each.text) for at, each in enumerate((old, new), 1))
    ask = ScriptedAsk({"select_evidence": contracts.EvidencePick(spans=spans)})
    ready = PassagesReady(question=asked, passages=(old, new), snapshot="s1")
    requested = await select_evidence.handle(ready, ask, unnoted)
    assert isinstance(requested, AnswerRequested)
    assert [(span.n, span.source_id) for span in requested.evidence] == [(1, new.source_id), (2, old.source_id)]
    (conflict,) = requested.conflicts
    assert (conflict.first, conflict.second, conflict.outdated_n) == ("14 days", "7 days", 2)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("prices/fees_2024-25.csv", "prices/FEES 2025-26 def.xlsx"),
        ("price list draft.docx", "Price list FINAL.pdf"),
        ("요금표_초안.md", "요금표 최종본.md"),
    ],
)
def test_names_of_one_series_differ_in_more_than_dates(older: str, newer: str) -> None:
    one, other = (passage(name, "A lesson costs 66 euros.", title=name) for name in (older, newer))
    assert is_later(other, one)
    assert not is_later(one, other)
    assert not is_later(passage("prices/costs 2025-26.csv", "66", title="Costs"), one)


@pytest.mark.parametrize(
    "later",
    [
        "A wash costs 1.80 euros from 1 July. A second dryer is too expensive.",  # another matter
        "The move left a surplus of 84 euros for the bench in the yard.",  # the same one, and no time
    ],
)
async def test_later_minutes_replace_only_what_they_speak_of(later: str) -> None:
    found = minutes("The office moves on 1 July.", "The office moves on 5 August instead.", later)
    assert await first_shown("When does the office move?", *found) == found[1].source_id


def test_draft_of_the_year_in_question_is_replaced() -> None:
    draft, final = (
        passage(f"minutes 2024-09-09 {state}.docx", "The fee is 90.", title=f"Minutes 2024-09-09 {state}")
        for state in ("draft", "FINAL")
    )
    for text, old in (("What is the fee in September 2024?", {draft.source_id}), ("the fee in the draft", set())):
        assert out_of_date((draft, final), text).keys() == old


async def test_row_is_replaced_by_one_of_the_same_thing() -> None:
    old, new = (
        passage(f"prices {year}.csv", text, title=f"Prices {year}", char_start=0, char_end=len(text), blocks=rows(text))
        for year, text in (
            (2023, "For: Violin | Lesson: 48 € | Hour: 90 € | Term: 480 €\nFor: Guitar | Lesson: 45 €"),
            (2024, "For: Guitar | Lesson: 48 € | Hour: 90 € | Term: 480 €\nFor: Violin | Lesson: 51 €"),
        )
    )
    ready = PassagesReady(question=question(text="What does a violin lesson cost?"), passages=(old, new), snapshot="s1")
    ended = await select_evidence.handle(ready, ScriptedAsk(), unnoted)
    assert isinstance(ended, AnswerRequested)
    assert ended.evidence[0].text == "For: Violin | Lesson: 51 €"


async def test_row_of_another_strength_is_of_the_same_medicine() -> None:
    old, new = (
        passage(f"plan_{month}.md", text, title="Plan", char_start=0, char_end=len(text), blocks=rows(text))
        for month, text in (
            ("2023-05", "Medicine: Sertraline 100 mg | For: Mood | Dose: 1 tablet\nMedicine: Zinc | For: Skin"),
            ("2025-08", "Medicine: Iron 20 mg | For: Blood\nMedicine: Sertraline 50 mg | For: Mood | Dose: 1 tablet"),
        )
    )
    ready = PassagesReady(question=question(text="What is the dose of sertraline?"), passages=(old, new), snapshot="s1")
    ended = await select_evidence.handle(ready, ScriptedAsk(), unnoted)
    assert isinstance(ended, AnswerRequested)
    assert [span.text for span in ended.evidence] == ["Medicine: Sertraline 50 mg | For: Mood | Dose: 1 tablet"]


@pytest.mark.parametrize("says", ["This plan replaces all earlier plans.", ""])
def test_plan_of_a_month_replaces_all_earlier_ones_if_it_says_so(says: str) -> None:
    """Wherever it says so: the metadata has what a build found in the whole text."""
    old, new = (
        passage(f"plan_{month}.md", "Weigh the patient.", title="Plan", about=About(replaces=replaces))
        for month, replaces in (("2023-05", ""), ("2025-08", says))
    )
    assert replaced_in_part((old, new), out_of_date((old, new))) == (frozenset() if says else {old.source_id})


async def test_amendment_precedes_what_it_changes() -> None:
    old = passage("flat/lease_2021.md", "The rent is 310 euros a month, payable in advance.", title="Lease of a flat")
    new = passage(
        "flat/amendment_2023.md",
        "From April on the monthly rent is 345 euros.",
        title="Amendment to the lease of the flat",
    )
    other = passage("boat/lease_2021.md", "The rent is 90 euros a month.", title="Lease of a boat house")
    assert out_of_date((old, new, other)) == {old.source_id: new.source_id}
    assert await first_shown("What is the rent of the flat a month?", old, new) == new.source_id


async def test_older_version_is_replaced_as_a_whole() -> None:
    old, new = (
        passage(f"rules {year}.md", text, title=f"Rules {year}")
        for year, text in (
            (2022, "Withdrawal before week four: half of the fee is paid back by the school."),
            (2024, "The school pays the fee back, less 40 euros."),
        )
    )
    ready = PassagesReady(
        question=question(text="What does the school pay back on withdrawal?"), passages=(old, new), snapshot="s1"
    )
    ended = await select_evidence.handle(ready, ScriptedAsk(), unnoted)
    assert isinstance(ended, AnswerRequested)
    assert [span.source_id for span in ended.evidence] == [new.source_id]


def rows(text: str) -> tuple[Block, ...]:
    starts = [0, text.index("\n") + 1]
    return tuple(
        Block(kind="table_row", start=start, end=end)
        for start, end in zip(starts, (starts[1] - 1, len(text)), strict=True)
    )


async def test_later_document_of_the_same_precedes_a_nearer_earlier_one() -> None:
    old, new = minutes(
        "The office will move to Palm Street 12 on 1 July.",
        "The move to Palm Street 12 is postponed from 1 July to 15 August.",
    )
    other = passage("vote.md", "The office of your state helps you to move your registration.")
    assert await first_shown("When does the office move?", old, new, other) == new.source_id


@pytest.mark.parametrize(
    ("later", "first"),
    [("The hull of the Hexham four is cracked, so the offer is withdrawn.", True), ("No news of the key.", False)],
)
async def test_later_document_that_returns_to_the_matter_comes_first(later: str, first: bool) -> None:
    voted = "The committee voted to buy a second-hand coxed four from Hexham for £6,200."
    found = minutes(voted, later, "Tea is at four.")
    assert (await first_shown("Are we buying the boat from Hexham?", *found) == found[1].source_id) is first


@pytest.mark.parametrize(("heading", "first"), [("Hosepipes", True), ("Other business", False)])
async def test_heading_says_what_a_later_document_returns_to(heading: str, first: bool) -> None:
    old, new = minutes(
        "Decided that hosepipes may be used between 6 and 8 in the morning.",
        "People cannot come in the morning. New: from 7 to 9 in the evening.",
    )
    new = msgspec.structs.replace(new, headings=(heading,))
    assert (await first_shown("When may hosepipes be used?", old, new) == new.source_id) is first


@pytest.mark.parametrize(
    ("text", "says", "notice", "first"),
    [
        ("Where is the book fair?", "The book fair is held on 16 May in the square.",
         "The book fair is postponed from 16 May to 30 May, and held in the school.", True),
        ("Where is the book fair?", "The book fair is held on 16 May in the square.",
         "The chess evening is postponed from 16 May to 30 May.", False),
        ("책 장터는 어디서 열리나요?", "책 장터는 5월 16일 광장에서 열린다.",
         "책 장터를 16일에서 30일로 연기하고 학교에서 연다.", True),
        ("Où a lieu la foire aux livres ?", "La foire aux livres a lieu le 16 mai sur la place.",
         "Nous reportons la foire aux livres du 16 au 30 mai, à l'école.", True),
        ("¿Dónde es la feria del libro?", "La feria del libro es el 16 de mayo en la plaza.",
         "Se aplaza la feria del libro del 16 al 30 de mayo, en la escuela.", True),
        ("How much is the excess for water damage?", "The excess for water damage is 40 000 won.",
         "In 2025 the excess for water damage rises from 40 000 to 50 000 won.", True),
        ("How much is the excess for water damage?", "The excess for water damage is 40 000 won.",
         "In 2025 the cover for fire rises from 10 000 to 70 000 won.", False),
        ("누수 자기부담금은 얼마예요?", "누수 자기부담금은 35만 원입니다.",
         "2025년부터 누수 자기부담금이 35만 원에서 50만 원으로 오릅니다.", True),
        ("Les vélos prêtés sont couverts ?", "Les vélos prêtés sont couverts.",
         "Au 1er janvier 2025, la garantie des vélos prêtés est supprimée.", True),
        ("Les vélos prêtés sont couverts ?", "Les vélos prêtés sont couverts.",
         "Au 1er janvier 2025, la garantie des trottinettes est supprimée.", False),
        ("Les vélos prêtés sont couverts ?", "Les vélos prêtés sont couverts.",
         "La garantie des vélos prêtés peut être supprimée.", False),
        ("¿Están cubiertas las bicicletas prestadas?", "Las bicicletas prestadas están cubiertas.",
         "Desde enero de 2025 se suprime la cobertura de las bicicletas prestadas.", True),
        ("泳池开放吗？", "泳池对客人开放。", "2025年7月起泳池停止开放。", True),
        ("Combien d'acide par ruche ?", "Acide oxalique : 100 g par ruche.",
         "En 2026, acide oxalique : 200 g par ruche (auparavant 100 g).", True),
        ("Combien d'acide par ruche ?", "Acide oxalique : 100 g par ruche.",
         "En 2026, acide oxalique : 200 g par caisse.", False),
        ("How much acid for each hive?", "Oxalic acid: 100 g for each hive.",
         "In 2026, oxalic acid: 200 g for each hive, previously 100 g.", True),
        ("熊猫基地哪天去？", "去熊猫基地：4月11日。", "2026年3月通知：去熊猫基地由4月11日改为4月12日。", True),
        ("هل الدراجات المعارة مشمولة بالتأمين؟", "الدراجات المعارة مشمولة بالتأمين.",
         "ألغيت تغطية التأمين على الدراجات المعارة في يناير 2025.", True),
    ],
)  # fmt: skip
async def test_notice_that_moves_something_comes_first(text: str, says: str, notice: str, first: bool) -> None:
    plan, news = passage("minutes-april.md", says, title="Committee"), passage("notice.md", notice, title="Notice")
    assert (await first_shown(text, plan, news) == news.source_id) is first


async def test_mail_precedes_what_it_quotes() -> None:
    found = passages(
        ("prose", "I have booked two vans at Carrick for £385."),
        ("quotation", "The price of the vans at Carrick is £310."),
    )
    mail = [msgspec.structs.replace(one, source_id="re-vans.eml") for one in found]
    ready = PassagesReady(
        question=question(text="What is the price of the vans at Carrick?"), passages=tuple(mail), snapshot="s1"
    )
    ended = await select_evidence.handle(ready, ScriptedAsk(), unnoted)
    assert isinstance(ended, AnswerRequested)
    assert ended.evidence[0].text.startswith("I have booked")


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Visit of the museum, date", False),
        ("Who sent the mail of the visit of the museum?", True),
        ("Telephone number of Ana Roy", True),
    ],
)
def test_head_of_a_mail_answers_only_who(text: str, head: bool) -> None:
    found = passages(
        ("definition", "From: Ana Roy"), ("definition", "Date: 4 May"), ("definition", "Subject: Visit of the museum"),
        ("prose", "Dear all,"), ("prose", "The visit of the museum is on Friday."),
        ("prose", "Kind regards,\nAna Roy\nTel. 0171 555 010"), title="Visit of the museum",
    )  # fmt: skip
    mail = tuple(msgspec.structs.replace(one, source_id="visit.eml") for one in found)
    units = rank(read_question(question(text=text), Collection()), mail, weights())
    assert any(each.unit.kind == "definition" for each in units) is head
    assert any("555" in each.unit.text for each in units) is head


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Dear all,\nThe hall is shut.\nKind regards,\nAna Roy", ["The hall is shut."]),
        ("您好！\n活动改到周五。", ["活动改到周五。"]),
        ("Bring boots\nThe path is wet.", ["Bring boots\nThe path is wet."]),
        ("The hall is shut.\nTel. 0171 555 010", ["The hall is shut.\nTel. 0171 555 010"]),
        ("The hall is shut.\nKind regards\nAna Roy", ["The hall is shut."]),
        ("Kind regards\nAna Roy", []),
        ("Bring:\nboots\na hat", ["Bring:\nboots\na hat"]),
        ("The hall is shut.\nThe yard too", ["The hall is shut.\nThe yard too"]),
        ("Kind regards,", []),
    ],
)
def test_courtesies_of_a_mail_are_left_out(text: str, units: list[str]) -> None:
    mail = [msgspec.structs.replace(one, source_id="hall.eml") for one in passages(("prose", text))]
    assert [unit.text for unit in units_of(mail)] == units
    assert [unit.text for unit in units_of(passages(("prose", text)))] == [text]


@pytest.mark.parametrize(("heading", "shown"), [("Changes on 20 February", True), ("Falls", False)])
async def test_section_of_changes_comes_along(heading: str, shown: bool) -> None:
    pieces: list[Piece] = [
        ("heading", "Visits"), ("prose", "The carer comes on Mondays, Wednesdays and Fridays at nine."),
        ("heading", heading), ("prose", "From March on the Wednesday is moved to Thursday."),
    ]  # fmt: skip
    ready = PassagesReady(
        question=question(text="Does the carer come on Wednesday?"), passages=tuple(passages(*pieces)), snapshot="s1"
    )
    ended = await select_evidence.handle(ready, ScriptedAsk(), unnoted)
    text = " ".join(span.text for span in ended.evidence) if isinstance(ended, AnswerRequested) else ""
    assert ("moved to Thursday" in text) is shown


@pytest.mark.parametrize(("of", "shown"), [("walnut", True), ("sesame", False)])
def test_warning_of_traces_comes_along(of: str, shown: bool) -> None:
    filling = (
        "Bean paste, 45 g each. Walnuts are no longer added since May. Sprinkle black sesame on top (we cannot offer the buns"
        " without to guests with an allergy to it, because they are baked on the same tray)."
    )
    warning = f"Contains wheat, milk and egg. Traces of {of} are possible. Keep two days."
    pieces: list[Piece] = [("heading", "Filling"), ("prose", filling), ("heading", "Allergens"), ("prose", warning)]
    asked = question(text="Can a guest with a walnut allergy eat the red bean buns?")
    choice = choose(asked, passages(*pieces), Collection())
    assert choice is not None
    assert (warning in [each.unit.text for each in choice.shown]) is shown
