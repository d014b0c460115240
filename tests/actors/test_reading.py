"""Retrieved passages, judged and merged: verbatim excerpts only, every passage once, at most one more round."""

from typing import Any

import msgspec
import pytest
from groundwire.wire import About, Context, ContextMetadata
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from actors.answering.drafting import confidence_in, probability_shown, stated_in
from actors.evidence.lanes import given as given_contexts
from actors.evidence.lanes import merge, near_the_best, verbatim
from actors.evidence.prompt_evidence import chunks_of, evidence_of
from actors.evidence.spans import numbered
from actors.evidence.standing import out_of_date, with_later
from actors.judge_relevance import judge_relevance, keep
from actors.judge_sufficiency import ROUND_2, judge_sufficiency
from actors.question.profile import PROFILES, profile_of
from actors.retrieve import retrieve
from actors.select_evidence import select_evidence
from actors.selecting.chosen import choice_record, chosen, unsure
from bus.powers.events import Sources
from bus.powers.protocols import unnoted
from bus.wire.errors import BadReply, Unavailable
from bus.wire.messages import (
    AnswerRequested,
    AnswerSettled,
    PassagesJudged,
    PassagesReady,
    PassagesRetrieved,
    QueryDecomposed,
    SubQueryPlanned,
)
from bus.wire.parts import Collection, Passage, Question, Sentence, SubQuery
from index.filters import Filter
from prompts import contracts, notices
from tests.actors.scripted_powers import Hits, Screen, ScriptedAsk
from tests.message_samples import ANALYSIS, LANES, OPENING, REFUNDS, SAMPLES, passage, question

RETRIEVED = PassagesRetrieved(
    question=question(), sub_query=LANES[0], plan=LANES, round=1, passages=(passage(), passage("opening.md", OPENING)),
    snapshot="s1",
)  # fmt: skip


def relevance(*extracts: tuple[str, str]) -> contracts.Relevance:
    return contracts.Relevance(
        sub_query_id="made up",
        sub_query_statement="made up",
        relevant_extracts=tuple(contracts.Extract(source_file=s, excerpt=e, relevance="high") for s, e in extracts),
        sub_answer="Within 14 days.",
        confidence="medium",
        missing_aspects=("who pays",),
    )


@pytest.mark.parametrize(
    ("extracts", "kept", "passages"),
    [
        ([], 0, []),
        ([("refunds.md", "Refunds are paid within 14 days")], 1, ["refunds.md"]),
        ([("refunds.md", "Refunds are paid within 30 days")], 1, ["refunds.md"]),
        ([("refunds.md", "A refund takes thirty days")], 0, []),
        ([("opening.md", "Refunds are paid within 14 days")], 0, []),
        ([("nowhere.md", "Refunds")], 0, []),
        ([("refunds.md", " ")], 0, []),
        ([("opening.md", "at ten"), ("refunds.md", "14 days"), ("refunds.md", "99 days")], 2, ["refunds.md", "opening.md"]),
    ],
)  # fmt: skip
def test_only_verbatim_excerpts_stay_and_others_are_counted(
    extracts: list[tuple[str, str]], kept: int, passages: list[str]
) -> None:
    analysis = verbatim(RETRIEVED, relevance(*extracts))
    assert (len(analysis.relevant_extracts), analysis.dropped) == (kept, len(extracts) - kept)
    assert (analysis.sub_query_id, analysis.sub_query_statement) == (LANES[0].id, LANES[0].statement)
    assert [p.source_id for p in keep(RETRIEVED.passages, analysis.relevant_extracts)] == passages


async def test_inexact_excerpt_keeps_its_source() -> None:
    reply = relevance(("opening.md", "Opens at nine, more or less."))
    judged = await judge_relevance.handle(RETRIEVED, ScriptedAsk({"judge_relevance": reply}))
    assert [p.source_id for p in judged.passages] == ["opening.md"]
    assert (judged.analysis.relevant_extracts, judged.analysis.dropped) == ((), 1)


async def test_empty_lane_needs_no_model() -> None:
    ask = ScriptedAsk()
    judged = await judge_relevance.handle(msgspec.structs.replace(RETRIEVED, passages=()), ask)
    assert isinstance(judged, PassagesJudged)
    assert (judged.passages, judged.analysis.judged, judged.analysis.missing_aspects) == ((), True, (LANES[0].focus,))
    assert ask.asked == []


# ---------------------------------------------------------------- merging


DOCS = [passage(f"d{n}.md", f"text {n}", char_start=n, char_end=n + 6) for n in range(6)]
lanes_of = st.lists(st.lists(st.sampled_from(DOCS), unique_by=lambda p: p.source_id).map(tuple), max_size=4).map(tuple)


@given(lanes_of)
def test_every_passage_once(lanes: tuple[tuple[Passage, ...], ...]) -> None:
    merged = merge(lanes)
    assert sorted(p.source_id for p in merged) == sorted({p.source_id for lane in lanes for p in lane})


@given(st.lists(st.sampled_from(DOCS), unique_by=lambda p: p.source_id).map(tuple), st.integers(1, 4))
def test_lanes_that_agree_keep_their_order(lane: tuple[Passage, ...], times: int) -> None:
    assert merge((lane,) * times) == lane


def test_two_passages_of_a_document_stay_two() -> None:
    other = passage("d0.md", "other", char_start=50, char_end=55)
    assert merge(((DOCS[0], other), (other,))) == (other, DOCS[0])


# ---------------------------------------------------------------- enough, or one more round


def lanes(*, round: int = 1, profile: str = "general") -> tuple[PassagesJudged, ...]:
    asked = question(profile=profile)
    plan = LANES if round == 1 else (*LANES, SubQuery(id="sq_add_1", statement="more", focus=""))
    return tuple(
        PassagesJudged(
            question=asked, sub_query=q, plan=plan, round=2 if q.id.startswith("sq_add") else 1, passages=(passage(),),
            analysis=ANALYSIS, snapshot="s1",
        )
        for q in plan
    )  # fmt: skip


def sufficiency(enough: bool, added: int) -> contracts.Sufficiency:
    return contracts.Sufficiency(
        is_sufficient=enough,
        confidence="high",
        missing_critical_aspects=("who pays",),
        reasoning="",
        additional_sub_queries=tuple(
            contracts.AddedSubQuery(id=f"sq_add_{n}", statement=f"more {n}", focus="", reason="")
            for n in range(1, added + 1)
        ),
    )


@pytest.mark.parametrize(
    ("enough", "added", "round_", "profile", "more", "missing"),
    [
        (True, 0, 1, "general", 0, ()),
        (True, 2, 1, "general", 0, ()),
        (False, 2, 1, "general", 2, ()),
        (False, 9, 1, "general", 3, ()),
        (False, 0, 1, "general", 0, ("who pays",)),
        (False, 2, 2, "general", 0, ("who pays",)),
        (False, 2, 1, "library", 0, ("who pays",)),
    ],
)
async def test_at_most_one_more_round(
    enough: bool, added: int, round_: int, profile: str, more: int, missing: tuple[str, ...]
) -> None:
    ask = ScriptedAsk({"judge_sufficiency": sufficiency(enough, added)})
    result = await judge_sufficiency.handle(lanes(round=round_, profile=profile), ask)
    if more:
        assert isinstance(result, QueryDecomposed)
        assert (result.lane, result.round, len(result.sub_queries), result.earlier) == (ROUND_2, 2, more, LANES)
    else:
        assert isinstance(result, PassagesReady)
        assert (result.missing, result.rounds, len(result.passages), result.complex) == (missing, round_, 1, True)
        assert len(result.analyses) == len(lanes(round=round_))
    (asked,) = ask.asked
    assert (asked.last is True) == (round_ == 2 or profile == "library")


# ---------------------------------------------------------------- retrieving


def plan(**changes: object) -> SubQueryPlanned:
    made = SAMPLES[SubQueryPlanned]
    assert isinstance(made, SubQueryPlanned)
    return msgspec.structs.replace(made, **changes)


@pytest.mark.parametrize(("judged", "result"), [(True, PassagesRetrieved), (False, PassagesReady)])
async def test_hits_go_to_the_judge_or_onward(judged: bool, result: type) -> None:
    found = await retrieve.handle(plan(judged=judged), Hits((passage(),)), Screen())
    assert isinstance(found, result)
    assert (found.passages, found.snapshot) == ((passage(),), "s1")  # type: ignore[attr-defined]


async def test_profile_may_keep_the_fused_order(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Hits((passage(),))
    await retrieve.handle(plan(), search, Screen())
    general = profile_of("general")
    fused = msgspec.structs.replace(general.retrieval, rerank=False)
    monkeypatch.setattr(PROFILES, "_read", {"general": msgspec.structs.replace(general, retrieval=fused)})
    await retrieve.handle(plan(), search, Screen())
    assert [request.rerank for request in search.asked] == [True, False]


async def test_search_is_narrowed_by_profile_and_request(monkeypatch: pytest.MonkeyPatch) -> None:
    search = Hits((passage(),))
    await retrieve.handle(plan(question=question(filter=Filter(tag="a"))), search, Screen())
    profile = msgspec.structs.replace(profile_of("general"), filter=Filter(path="guide/**", tag="b"))
    monkeypatch.setattr(PROFILES, "_read", {"general": profile})
    await retrieve.handle(plan(question=question(filter=Filter(tag="a"))), search, Screen())
    await retrieve.handle(plan(), search, Screen())
    assert [request.filter for request in search.asked] == [
        Filter(tag="a"),
        Filter(path="guide/**", tag="a"),
        Filter(path="guide/**", tag="b"),
    ]


@pytest.mark.parametrize(
    ("best", "path"),
    [
        ("minutes/2026-02-17-team.md", "/minutes/*-team*"),
        ("rules-2022 [v1].md", "/rules* [[]v*]*"),
        ("2024/09/plan v1.2.md", "/*/*/plan v*"),
        ("rules.md", None),
        ("room 12.md", None),
        (f"{'long' * 125}-2024.md", None),
    ],
)
async def test_files_of_the_same_name_are_searched_too(best: str, path: str | None) -> None:
    search = Hits((passage(best),))
    await retrieve.handle(plan(), search, Screen())
    assert [each.filter for each in search.asked[1:]] == ([Filter(path=path)] if path else [])


def test_only_later_files_come_behind_the_best_passage() -> None:
    earlier, best, far, *later = (passage(f"minutes/2026-0{month}-17.md") for month in range(1, 7))
    other, far = passage("move.md"), msgspec.structs.replace(far, score=best.score / 3)
    assert with_later((best, other), (best, earlier, far, *later)) == (best, *later[:2], other)


@pytest.mark.parametrize(
    ("files", "old"),
    [
        (("rules.md", "rules-2022.md"), {"rules-2022.md"}),
        (("Heating 1803.pdf", "Heating 1977.pdf"), set()),
        (("Heating 2025-10.pdf", "Heating 2024-10.pdf"), {"Heating 2024-10.pdf"}),
    ],
)
def test_number_like_a_year_is_no_date_next_to_another_number(files: tuple[str, str], old: set[str]) -> None:
    assert out_of_date([passage(file, title="Heating") for file in files]).keys() == old


@pytest.mark.parametrize("judged", [True, False])
async def test_filter_without_matches_ends_the_run(judged: bool) -> None:
    asked = plan(question=question(filter=Filter(path="nowhere/**")), judged=judged)
    found = await retrieve.handle(asked, Hits(none_passes=True), Screen())
    assert isinstance(found, AnswerSettled)
    assert (found.settled.outcome, found.settled.reason) == ("refused", "no_results")
    assert found.settled.snapshot == "s1"
    assert found.settled.answer.startswith("No document passes the filter of this question (path nowhere/**)")


async def test_given_contexts_replace_the_search() -> None:
    contexts = tuple(
        Context(content=text, metadata=ContextMetadata(source_id=text, title="T", language="ko", page=3), score=score)
        for text, score in (("low", 0.1), ("high", 0.9), ("also low", 0.1))
    )
    found = await retrieve.handle(plan(question=question(contexts=contexts)), Hits((passage(),)), Screen())
    assert isinstance(found, PassagesRetrieved)
    assert [p.text for p in found.passages] == ["high", "low", "also low"]
    assert {(p.char_start, p.char_end - len(p.text), p.page, p.score_type) for p in found.passages} == {
        (0, 0, 3, "given")
    }
    assert found.snapshot == ""
    assert given_contexts(()) == ()


@pytest.mark.parametrize(("events", "count"), [("default", 0), ("all", 1)])
async def test_sources_event_needs_all_events(events: str, count: int) -> None:
    screen = Screen()
    await retrieve.handle(plan(question=question(events=events)), Hits((passage(),)), screen)
    assert [type(aside) for aside in screen.asides] == [Sources] * count


# ---------------------------------------------------------------- evidence


def found(*passages: Passage, **changes: object) -> PassagesReady:
    fields: dict[str, object] = {"question": question(), "passages": passages, "snapshot": "s1"}
    return PassagesReady(**{**fields, **changes})  # type: ignore[arg-type]


def picks(*texts: str, of: int = 1) -> ScriptedAsk:
    return ScriptedAsk({"select_evidence": contracts.EvidencePick(
        spans=tuple(contracts.PickedSpan(passage=of, text=text) for text in texts))})  # fmt: skip


def test_far_passages_are_left_out_after_the_first_five() -> None:
    found = tuple(passage(f"{n}.md", score=score) for n, score in enumerate((0.9, 0.5, 0.4, 0.3, 0.2, 0.55, 0.53)))
    assert near_the_best(question(), found) == found[:6]
    ordered = (msgspec.structs.replace(found[0], rerank_score=0.1), *found[1:])
    assert near_the_best(question(), ordered) == ordered


TULIPS = passage(text="Tulips bloom for days.", title="Garden", score=0.2)
FAR = question(
    text="Explain zeppelin hangar maintenance intervals, helium purity thresholds, mooring procedures in days"
)


@pytest.mark.parametrize(
    ("message", "ask", "outcome", "reason"),
    [
        (found(), ScriptedAsk(), "refused", "no_results"),
        (found(analyses=(ANALYSIS,), complex=True), ScriptedAsk(), "refused", "no_evidence"),
        (found(analyses=(ANALYSIS,), complex=True, near=(passage(),)), ScriptedAsk(), "closest", "no_evidence"),
        (found(missing=("who pays",), complex=True), ScriptedAsk(), "refused", "insufficient"),
        (found(passage()), picks(), "closest", "no_evidence"),
        (found(passage(), missing=("who pays",), complex=True), picks(), "closest", "insufficient"),
        (found(passage("garden.md", "Tulips bloom in April.", title="Garden")), ScriptedAsk(), "refused", "low_relevance"),
        (found(TULIPS, question=FAR), ScriptedAsk(), "closest", "low_relevance"),
    ],
)  # fmt: skip
async def test_unanswerable_question_ends_with_its_reason(
    message: PassagesReady, ask: ScriptedAsk, outcome: str, reason: str
) -> None:
    settled = await select_evidence.handle(message, ask, unnoted)
    assert isinstance(settled, AnswerSettled)
    assert (settled.settled.outcome, settled.settled.reason) == (outcome, reason)
    assert bool(settled.settled.passages) == (outcome == "closest")
    assert ("who pays" in settled.settled.answer) == (reason == "insufficient")


def test_model_is_told_where_a_text_is_from() -> None:
    old = passage("2023/rules.md", title="Rules", about=About(date="2023-02-01T09:00:00Z"))
    new = passage("2025/rules.md", title="Rules", about=About(date="2025-03-04", saved=True))
    said = [("2023/rules.md", "2023-02-01", "2025/rules.md"), ("2025/rules.md", UNSET, UNSET)]
    assert [(each.source_file, each.date, each.replaced_by) for each in chunks_of((old, new), to_model=True)] == said
    evidence = evidence_of(numbered((old, new), [(0, 0, 20), (1, 0, 20)]), to_model=True)
    assert [(each.source_id, each.date, each.replaced_by) for each in evidence] == said


def test_contract_with_an_amendment_is_not_replaced() -> None:
    lease, amendment = passage("lease.md", title="Lease"), passage("lease-amendment.md", title="Amendment to the lease")
    assert "lease.md" in out_of_date((lease, amendment))
    assert {each.replaced_by for each in chunks_of((lease, amendment), to_model=True)} == {UNSET}


REPLACED = passage("refunds-2020.md", "Refunds are paid within 30 days of the return.", title="Refunds 2020")
IN_FORCE = passage("refunds-2025.md", "Parcels are taken back at the desk.", title="Refunds 2025")


@pytest.mark.parametrize(
    ("passages", "asked", "suggested"),
    [
        ((passage(),), question(), True),
        ((TULIPS,), FAR, False),
        ((REPLACED, IN_FORCE), question(), False),
        ((*(passage(f"{n}.md", "Tulips bloom in April.") for n in range(11)), passage()), question(), False),
    ],
    ids=["probable", "improbable", "replaced", "beyond what the model reads"],
)
async def test_model_reads_few_passages_and_sure_suggestions(
    passages: tuple[Passage, ...], asked: Question, suggested: bool
) -> None:
    ask = picks("Refunds are paid within 14 days of the return.")
    model = msgspec.structs.replace(asked, has_model=True)
    await select_evidence.handle(found(*passages, question=model), ask, unnoted)
    (told,) = ask.asked
    assert isinstance(told, contracts.SelectEvidence)
    assert [each.source_file for each in told.retrieved_chunks] == [each.source_id for each in passages[:8]]
    assert bool(told.suggested) == suggested


async def test_model_that_finds_nothing_is_quoted() -> None:
    """That no passage answers is known then; without a model, only that none does so surely."""
    message = found(passage(), question=question(has_model=True))
    settled = await select_evidence.handle(message, picks(), unnoted)
    assert isinstance(settled, AnswerSettled)
    assert settled.settled.outcome == "closest"
    assert settled.settled.answer.startswith(notices.reason_text("no_evidence", "en"))


async def test_invented_pick_leaves_it_to_rules() -> None:
    message = found(passage(), question=question(has_model=True))
    with pytest.raises(BadReply, match="names a passage") as raised:
        await select_evidence.handle(message, picks("It takes thirty days.", of=7), unnoted)
    assert select_evidence.fallback is not None
    asked = select_evidence.fallback(message, raised.value)
    assert isinstance(asked, AnswerRequested)
    assert asked.evidence[0].text in REFUNDS


FIRST = "Refunds are paid within 14 days of the return, counted from the day on which it has reached our shop."
SECOND = "The shipping fee of 3,000 won is kept in every case, also where a parcel never reached its recipient."


async def test_model_is_asked_where_rules_doubt() -> None:
    doubtful = found(TULIPS, question=FAR)
    model = msgspec.structs.replace(doubtful, question=msgspec.structs.replace(FAR, has_model=True))
    ask = picks("Tulips bloom for days.")
    assert isinstance(await select_evidence.handle(doubtful, ask, unnoted), AnswerSettled)
    assert not ask.asked
    requested = await select_evidence.handle(model, ask, unnoted)
    assert isinstance(requested, AnswerRequested)
    assert requested.probability is not None
    assert requested.probability < 0.5
    assert select_evidence.fallback is not None
    ended = select_evidence.fallback(model, Unavailable("no model"))
    assert isinstance(ended, AnswerSettled)
    assert ended.settled.outcome == "closest"


async def test_probability_is_of_the_picked_spans() -> None:
    text = f"{FIRST}\n\n{SECOND}"
    asked = question(text="Within how many days of the return are refunds paid?", has_model=True)
    message = found(passage(text=text), question=asked)
    rules, other, both = [
        await select_evidence.handle(message, ask, unnoted)
        for ask in (ScriptedAsk(), picks(SECOND), picks(SECOND, FIRST))
    ]
    assert isinstance(rules, AnswerRequested)
    assert isinstance(other, AnswerRequested)
    assert isinstance(both, AnswerRequested)
    assert other.probability is not None
    assert other.probability < 0.5 < (rules.probability or 0.0)
    assert [span.text for span in other.evidence] == [SECOND]
    citing_second = (Sentence(text="Fees are kept [1]."),)
    assert both.evidence[0].text == SECOND
    assert both.evidence[0].probability == other.probability
    assert probability_shown(both, citing_second) is None  # rules do not measure the model
    assert confidence_in(both, None) == "medium"
    assert probability_shown(both, (Sentence(text="Paid within 14 days [2]."),)) == both.evidence[1].probability
    given = msgspec.structs.replace(both, question=msgspec.structs.replace(both.question, contexts=()))
    assert confidence_in(given, None) == "medium"
    assert probability_shown(rules, ()) == rules.probability


@pytest.mark.parametrize(
    ("profile", "style", "complex_", "text", "answer_style"),
    [
        ("general", None, False, "How many days until refunds are paid?", "simple"),
        ("general", None, True, "How many days until refunds are paid?", "report"),
        ("general", "synthesis", False, "How many days until refunds are paid?", "synthesis"),
        ("general", "structured", True, "How many days until refunds are paid?", "structured"),
        ("general", "hint", False, "How many days until refunds are paid?", "hint"),
        ("library", None, True, "How many days until refunds are paid?", "synthesis"),
        ("support", None, False, "How many days until refunds are paid?", "structured"),
    ],
)
async def test_style_of_the_request(profile: str, style: Any, complex_: bool, text: str, answer_style: str) -> None:
    asked = question(profile=profile, style=style, text=text)
    message = found(passage(), question=asked, complex=complex_, analyses=(ANALYSIS,) if complex_ else ())
    result = await select_evidence.handle(message, picks("Refunds are paid within 14 days of the return."), unnoted)
    assert isinstance(result, AnswerRequested)
    assert result.style == answer_style


@pytest.mark.parametrize(
    ("known", "least"), [({"en": 40, "fr": 2}, 0.5), ({"fr": 2, "zh": 40}, 0.75)], ids=["own", "foreign"]
)
def test_foreign_documents_answer_only_when_likelier(known: dict[str, int], least: float) -> None:
    message = found(passage(score=0.4), collection=Collection(languages=known))
    choice = chosen(message, message.passages)
    assert choice is not None
    likely, unlikely = (msgspec.structs.replace(choice, probability=each) for each in (least, least - 0.01))
    assert unsure(message, message.passages, likely) is None
    ended = unsure(message, message.passages, unlikely)
    assert ended is not None
    assert ended.settled.outcome == "closest"
    assert ("Chinese" in ended.settled.answer) == ("en" not in known)


@pytest.mark.parametrize("profile", ["tutor", "general"])
async def test_tutor_answers_in_one_language(profile: str) -> None:
    """Evidence in the question's language stays alone; where there is none, the tutor claims nothing."""
    french = passage("r.md", "Les remboursements sont payés dans les 14 days, how many.", language="fr")
    asked = question(profile=profile, text=question().text)
    known = Collection(languages={"en": 40, "fr": 40})
    both = await select_evidence.handle(
        found(passage(), french, question=asked, collection=known), ScriptedAsk(), unnoted
    )
    assert isinstance(both, AnswerRequested)
    assert {span.language for span in both.evidence} == {"en"}
    only = passage(text=REFUNDS, language="fr")
    ended = await select_evidence.handle(found(only, question=asked, collection=known), ScriptedAsk(), unnoted)
    assert isinstance(ended, AnswerSettled) == (profile == "tutor")
    if isinstance(ended, AnswerSettled):
        assert (ended.settled.outcome, "French" in ended.settled.answer) == ("closest", True)


@pytest.mark.parametrize(("style", "near"), [("simple", True), ("hint", False)])
async def test_near_passages_of_an_exercise_are_not_recorded(style: str, near: bool) -> None:
    message = found(
        passage(score=0.2), question=question(text="Which refunds are there?", style=style, voice="helpful")
    )
    choice = chosen(message, message.passages)
    assert choice is not None
    assert bool(choice_record(message, message.passages, choice).near) == near


async def test_hint_needs_material_that_fits() -> None:
    exercise = question(profile="tutor", text="Calculate the area of a circle with radius 3.")
    ended = await select_evidence.handle(found(passage(score=0.2), question=exercise), ScriptedAsk(), unnoted)
    assert isinstance(ended, AnswerSettled)
    assert (ended.settled.outcome, ended.settled.passages) == ("refused", ())
    assert "fits this exercise" in ended.settled.answer


CLINIC = "角膜塑形镜适用于8岁以上、近视不超过600度的人。每晚应佩戴8至10小时。感冒发热时必须停戴。"


@pytest.mark.parametrize(
    ("text", "missing", "answered"),
    [
        ("角膜塑形镜每晚应佩戴几小时，感冒发热时怎么办？", ("感冒",), True),
        ("角膜塑形镜每晚应佩戴几小时？", (), True),
        ("孕妇可以戴角膜塑形镜吗？", (), False),
        ("角膜塑形镜和红光哪个更好？", ("红光",), False),
        ("角膜塑形镜和红光治疗有什么区别？", (), False),
        ("角膜塑形镜和感冒有什么区别？", (), True),
    ],
)
async def test_consultation_knows_what_is_missing(text: str, missing: tuple[str, ...], answered: bool) -> None:
    clinic = passage(text=CLINIC, title="角膜塑形镜佩戴须知", language="zh")
    asked = question(profile="myopia", language="zh", text=text, voice="helpful")
    message = found(clinic, question=asked, missing=missing, complex=bool(missing))
    result = await select_evidence.handle(message, ScriptedAsk(), unnoted)
    assert isinstance(result, AnswerRequested) == answered
    if isinstance(result, AnswerSettled):
        assert result.settled.outcome == "closest"
        assert all(aspect in result.settled.answer for aspect in missing)


@pytest.mark.parametrize(
    ("profile", "voice", "least"),
    [("general", "strict", 0.5), ("myopia", "strict", 0.7), ("general", "helpful", 0.3), ("myopia", "helpful", 0.3)],
)
def test_consultation_shows_no_low_confidence(profile: str, voice: Any, least: float) -> None:
    clinic = passage(text=CLINIC, title="角膜塑形镜佩戴须知", language="zh")
    text = "角膜塑形镜每晚应佩戴几小时？"
    message = found(clinic, question=question(profile=profile, language="zh", text=text, voice=voice))
    choice = chosen(message, (clinic,))
    assert choice is not None
    ended = [
        unsure(message, (clinic,), msgspec.structs.replace(choice, probability=each)) for each in (least - 0.01, least)
    ]
    assert [each is None for each in ended] == [False, True]


@pytest.mark.parametrize("first", [True, False], ids=["nearer", "farther"])
def test_nearer_passage_in_another_language_ends_the_run(first: bool) -> None:
    own = passage(text="The refund is paid on Monday.", language="en")
    far = passage("fr.md", "Le directeur signe chaque remboursement.", language="fr")
    passages = (far, own) if first else (own, far)
    message = found(*passages, question=question(text="When is the refund paid?"))
    choice = chosen(message, passages)
    assert choice is not None
    ended = unsure(message, passages, msgspec.structs.replace(choice, probability=0.9))
    assert (ended is not None) == first
    given = question(text="When is the refund paid?", contexts=())  # the caller's order says nothing about nearness
    assert unsure(found(*passages, question=given), passages, msgspec.structs.replace(choice, probability=0.9)) is None


async def test_question_outside_the_scope_is_declined() -> None:
    asked = question(profile="myopia", language="zh", text="明天会下雨吗？")
    ended = await select_evidence.handle(found(question=asked), ScriptedAsk(), unnoted)
    assert isinstance(ended, AnswerSettled)
    assert (ended.settled.outcome, ended.settled.detail) == ("declined", "out_of_scope")


@pytest.mark.parametrize(
    ("profile", "style", "probability", "confidence"),
    [
        ("general", "report", 0.96, "high"),
        ("myopia", "simple", 0.96, "high"),
        ("myopia", "simple", 0.94, "medium"),
        ("myopia", "report", 0.99, "medium"),
    ],
)
def test_rules_are_careful_with_advice(profile: str, style: Any, probability: float, confidence: str) -> None:
    asked = question(profile=profile, language="zh")
    request = AnswerRequested(
        style=style, question=asked, evidence=(), analyses=(), conflicts=(), snapshot="s", rounds=1
    )
    assert confidence_in(request, probability) == confidence


@pytest.mark.parametrize(
    ("style", "model", "own", "text", "stated"),
    [
        ("synthesis", True, "high", "A desk opens at nine [1]. It shuts at two [2][3].", "high"),
        ("synthesis", True, "medium", "A desk opens at nine [1]. It shuts at two [2][3].", "medium"),
        ("synthesis", True, "high", "A desk opens at nine [1][2].", "medium"),
        ("synthesis", True, "high", "A desk opens at nine [1]. It shuts at two [1].", "low"),
        ("synthesis", False, "high", "A desk opens at nine [1]. It shuts at two [2][3].", "low"),
        ("simple", True, "high", "A desk opens at nine [1]. It shuts at two [2][3].", "low"),
    ],
)
def test_confidence_that_a_model_states(style: Any, model: bool, own: Any, text: str, stated: str) -> None:
    asked = question(has_model=model)
    request = AnswerRequested(
        style=style, question=asked, evidence=(), analyses=(), conflicts=(), snapshot="s", rounds=1
    )
    assert stated_in(request, [Sentence(text=text), Sentence(text="No [4].", withheld=True)], own) == stated
