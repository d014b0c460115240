"""From the request to the lanes: the question's language and defaults, guards before any model, and usable sub-queries."""

from typing import Any

import msgspec
import pytest
from blockbuster import BlockBuster
from groundwire.wire import Context, ContextMetadata, Turn

from actors.classify_intent import classify_intent
from actors.classify_query import classify_query
from actors.decompose_query import decompose_query
from actors.evidence.lanes import usable_lanes
from actors.open_lanes import open_lanes
from actors.question.exercise import is_exercise
from actors.question.profile import PROFILES, profile_of
from actors.question.resolved import NO_CONTEXT, Defaults, remember_languages, resolved, resolving_under, wording
from actors.retrieve import retrieve
from actors.rewrite_query import rewrite_query
from bus.wire.errors import Poison
from bus.wire.messages import (
    AnswerSettled,
    ComplexQuestionFound,
    FollowUpAsked,
    QueryDecomposed,
    QuestionAsked,
    QuestionReady,
    SubQueryPlanned,
)
from bus.wire.parts import Constraints
from prompts import contracts, notices
from prompts.profiles import Answers
from prompts.vocabulary import Voice
from tests.actors.scripted_powers import Hits, Screen, ScriptedAsk
from tests.message_samples import question

ASKED = {
    "ko": "환불은 며칠 안에 받을 수 있나요?",
    "en": "How many days until refunds are paid?",
    "zh": "退款需要多少天才能到账？",
    "es": "¿En cuántos días se pagan los reembolsos?",
    "fr": "Sous combien de jours les remboursements sont-ils versés ?",
    "ar": "كم يومًا يستغرق رد المبالغ المدفوعة؟",
}


def context(text: str) -> Context:
    return Context(content=text, metadata=ContextMetadata(source_id="s"))


@pytest.mark.parametrize("language", ASKED)
def test_language_is_that_of_the_question(language: str) -> None:
    assert resolved(QuestionAsked(question=ASKED[language])).language == language


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ({"question": ASKED["en"], "language": "fr"}, "fr"),
        ({"question": "12345"}, "en"),
        ({"question": "12345", "profile": "myopia"}, "zh"),
        ({"question": "12345", "profile": "library"}, "ko"),
        ({"question": "12345", "profile": "tutor"}, "fr"),
    ],
)
def test_language_may_be_given_or_default(asked: dict[str, Any], language: str) -> None:
    assert resolved(QuestionAsked(**asked)).language == language


@pytest.mark.parametrize(
    ("asked", "style", "release"),
    [
        ({}, None, "sentence"),
        ({"style": "report"}, "report", "sentence"),
        ({"constraints": Constraints(style="hint")}, "hint", "sentence"),
        ({"style": "report", "constraints": Constraints(style="hint")}, "report", "sentence"),
        ({"constraints": Constraints(style="as a table")}, None, "sentence"),
        ({"profile": "library"}, None, "draft"),
        ({"profile": "library", "release": "token"}, None, "token"),
    ],
)
def test_request_overrides_the_profile(asked: dict[str, Any], style: str | None, release: str) -> None:
    found = resolved(QuestionAsked(question=ASKED["en"], **asked))
    assert (found.style, found.release) == (style, release)
    assert wording(found) == ("as a table" if asked.get("constraints") == Constraints(style="as a table") else "")


@pytest.mark.parametrize(
    ("asked", "profile", "setting", "voice"),
    [
        (None, None, None, "strict"),
        (None, None, "helpful", "helpful"),
        (None, "strict", "helpful", "strict"),
        (None, "helpful", None, "helpful"),
        ("strict", "helpful", "helpful", "strict"),
        ("helpful", "strict", "strict", "helpful"),
    ],
)
def test_voice_comes_from_request_profile_or_settings(
    monkeypatch: pytest.MonkeyPatch, asked: Voice | None, profile: Voice | None, setting: Voice | None, voice: str
) -> None:
    mine = msgspec.structs.replace(profile_of("general"), answers=Answers(voice=profile))
    monkeypatch.setattr(PROFILES, "_read", {"general": mine})
    with resolving_under(Defaults(voice=setting) if setting else Defaults()):
        assert resolved(QuestionAsked(question=ASKED["en"], voice=asked)).voice == voice


@pytest.mark.parametrize(
    ("contexts", "left"),
    [
        (None, None),
        ((), ()),
        ((context("text"),), ("text",)),
        ((context("  "), context("text"), context(NO_CONTEXT)), ("text",)),
        ((context(f" {NO_CONTEXT}\n"),), ()),
        ((context(f"The marker {NO_CONTEXT} in a text"),), (f"The marker {NO_CONTEXT} in a text",)),
    ],
)
def test_empty_contexts_and_marker_count_as_none(contexts: tuple[Context, ...] | None, left: Any) -> None:
    found = resolved(QuestionAsked(question="x y", contexts=contexts)).contexts
    assert (None if found is None else tuple(c.content for c in found)) == left


@pytest.mark.parametrize("language", ASKED)
async def test_missing_context_has_a_fixed_answer(language: str) -> None:
    ask = ScriptedAsk()
    for contexts in ((), (context(NO_CONTEXT),)):
        settled = await classify_intent.handle(QuestionAsked(question=ASKED[language], contexts=contexts), ask)
        assert isinstance(settled, AnswerSettled)
        assert (settled.settled.outcome, settled.settled.reason) == ("refused", "no_results")
        assert settled.settled.answer == notices.text("replies", "empty_context", language)
    assert ask.asked == []


async def test_policy_word_gets_the_profile_reply() -> None:
    ask = ScriptedAsk()
    word = profile_of("support").policy_words["ko"][0]
    settled = await classify_intent.handle(QuestionAsked(question=f"저는 {word} 것입니다", profile="support"), ask)
    assert isinstance(settled, AnswerSettled)
    assert (settled.settled.outcome, settled.settled.detail) == ("declined", "policy")
    assert settled.settled.answer == profile_of("support").safe_reply["ko"]
    assert ask.asked == []


def intent(kind: str) -> contracts.Intent:
    return contracts.Intent(
        intent=kind,  # type: ignore[arg-type]
        confidence="high",
        category="",
        reasoning="",
        suggested_response="Buy now!",
    )


@pytest.mark.parametrize("language", ASKED)
@pytest.mark.parametrize("kind", ["out_of_scope", "greeting", "unclear"])
async def test_non_question_is_declined_in_its_language(kind: Any, language: str) -> None:
    ask = ScriptedAsk({"classify_intent": intent(kind)})
    settled = await classify_intent.handle(QuestionAsked(question=ASKED[language]), ask)
    assert isinstance(settled, AnswerSettled)
    assert settled.settled.outcome == "declined"
    assert settled.settled.answer == notices.declined_text(kind, language)


@pytest.mark.parametrize("kind", ["in_scope", "edge_case"])
@pytest.mark.parametrize(
    ("history", "result"), [((), QuestionReady), ((Turn(role="user", content="x"),), FollowUpAsked)]
)
async def test_question_continues(kind: str, history: tuple[Turn, ...], result: type) -> None:
    asked = QuestionAsked(question=ASKED["en"], conversation_history=history)
    assert isinstance(await classify_intent.handle(asked, ScriptedAsk({"classify_intent": intent(kind)})), result)


async def test_unknown_profile_is_poison(nothing_blocks: BlockBuster) -> None:
    nothing_blocks.deactivate()  # a profile may be added while we run, so one not known is looked for
    with pytest.raises(Poison, match="librray"):
        await classify_intent.handle(QuestionAsked(question="x", profile="librray"), ScriptedAsk())


# ---------------------------------------------------------------- rewriting and classifying


@pytest.mark.parametrize(
    ("rewritten", "needed", "text"),
    [
        ("How long do refunds of shoes take?", True, "How long do refunds of shoes take?"),
        ("How long do refunds of shoes take?", False, "And shoes?"),
        ("   ", True, "And shoes?"),
    ],
)
async def test_follow_up_is_completed_and_keeps_the_original(rewritten: str, needed: bool, text: str) -> None:
    reply = contracts.RewrittenQuery(
        original_query="And shoes?", rewritten_query=rewritten, needs_rewrite=needed, rewrite_reason="", topic=" refund"
    )
    asked = FollowUpAsked(question=question(text="And shoes?", asked="And shoes?"), history=())
    ready = await rewrite_query.handle(asked, ScriptedAsk({"rewrite_query": reply}))
    assert isinstance(ready, QuestionReady)
    assert (ready.question.text, ready.question.asked, ready.question.topic) == (text, "And shoes?", "refund")


@pytest.mark.parametrize(("kind", "result"), [("simple", SubQueryPlanned), ("complex", ComplexQuestionFound)])
async def test_one_retrieval_or_several(kind: Any, result: type) -> None:
    reply = contracts.QueryClass(query_type=kind, confidence="high", reasoning="", suggested_search_term="")
    ask = ScriptedAsk({"classify_query": reply})
    found = await classify_query.handle(QuestionReady(question=question()), ask)
    assert isinstance(found, result)


@pytest.mark.parametrize(
    ("asked", "exercise"),
    [
        ("Résous l'équation x² − 5x + 6 = 0", True),
        ("Calcule l'aire du triangle.", True),
        ("EXERCICE 3 : conjugue le verbe aller", True),
        ("Solve for x: 2x + 3 = 11", True),
        ("Can you give me the solution of question 2?", True),
        ("أوجد قيمة x", True),
        ("احْسُب مساحة المثلث", True),
        ("ساعدني في التمرين الثالث", True),
        ("Qu'est-ce que la photosynthèse ?", False),
        ("a) Show that n² is even. b) Find n.", True),
        ("Could you help me? Calculate 12 % of 80.", True),
        ("Peux-tu résoudre x² = 4 ?", True),
        ("What is a resolvent?", False),
        ("How much fuel is needed to solve a problem of that size?", False),
        ("Comment calculer le délai de préavis ?", False),
        ("How does exercise affect the heart?", False),
        ("Which experiments show that light is a wave?", False),
        ("ما هو بسط الكسر؟", False),
        ("ما الفرق بين أن وإن؟", False),
        ("Combien vaut x si 2x+3=7 ?", True),
        ("A train covers 240 km at 80 km/h. When does it arrive?", True),
        ("Where do I hand in my homework?", False),
        ("Is there a penalty for handing it in 2 days late?", False),
        ("ما مشتقة س³؟", True),
        ("ما عقوبة الغش في الواجب؟", False),
        ("x² − 9를 인수분해하세요.", True),
        ("과제를 늦게 내면 어떻게 되나요?", False),
        ("写一篇关于气候变化的作文", True),
        ("作业什么时候交？", False),
        ("Resuelve la ecuación 2x + 3 = 7", True),
        ("¿Cuándo se entregan los ejercicios?", False),
    ],
)
def test_exercise_gets_a_hint(asked: str, exercise: bool) -> None:
    assert is_exercise(question(text=asked, profile="tutor")) is exercise
    assert not is_exercise(question(text=asked, profile="general"))


@pytest.mark.parametrize("text", ["Solve x + 1 = 3", "What is a root?"])
@pytest.mark.parametrize("kind", ["simple", "exercise"])
async def test_model_judges_exercises(text: str, kind: Any) -> None:
    reply = contracts.QueryClass(query_type=kind, confidence="high", reasoning="", suggested_search_term="")
    asked = QuestionReady(question=question(text=text, profile="tutor", has_model=True))
    ask = ScriptedAsk({"classify_query": reply})
    planned = await classify_query.handle(asked, ask)
    assert isinstance(planned, SubQueryPlanned)
    assert is_exercise(planned.question) is (kind == "exercise")
    assert [each.exercises for each in ask.asked if isinstance(each, contracts.ClassifyQuery)] == [True]


# ---------------------------------------------------------------- lanes


@pytest.mark.parametrize(
    ("found", "ids"),
    [
        ((), ()),
        ((("sq_1", "a", ""), ("sq_2", "b", "")), ("sq_1", "sq_2")),
        ((("1", "a", ""), ("x.y", "b", "")), ("sq_1", "sq_2")),
        ((("sq_*", "a", ""), ("sq_>", "b", ""), ("sq_ 3", "c", "")), ("sq_1", "sq_2", "sq_3")),
        ((("sq_1", "a", ""), ("sq_2", " a ", "")), ("sq_1",)),
        ((("sq_1", " ", ""), ("sq_2", "b", "")), ("sq_2",)),
        ((("sq_2", "a", ""), ("nonsense", "b", "")), ("sq_2", "sq_2x")),
        (tuple((f"sq_{n}", f"s{n}", "") for n in range(1, 10)), ("sq_1", "sq_2", "sq_3", "sq_4", "sq_5")),
        (tuple(("sq_1", f"s{n}", "") for n in range(3)), ("sq_1", "sq_2x", "sq_3x")),
    ],
)
def test_lanes_have_their_own_statement_and_id(found: Any, ids: tuple[str, ...]) -> None:
    lanes = usable_lanes(found, "sq", 5)
    assert tuple(lane.id for lane in lanes) == ids
    assert len({lane.id for lane in lanes}) == len(lanes)


async def test_undecomposable_question_is_its_own_statement() -> None:
    reply = contracts.Decomposition(sub_queries=(), reasoning="")
    planned = await decompose_query.handle(
        ComplexQuestionFound(question=question()), ScriptedAsk({"decompose_query": reply})
    )
    assert isinstance(planned, QueryDecomposed)
    assert [(q.id, q.statement) for q in planned.sub_queries] == [("sq_1", question().text)]


async def test_each_statement_is_searched_for_in_the_other_languages() -> None:
    asked = question(has_model=True, languages=("en", "es", "ko"))
    parts = (contracts.SubQuery(id="sq_1", statement="Refunds are paid. reembolso 환불", focus="refunds"),)
    ask = ScriptedAsk({"decompose_query": contracts.Decomposition(sub_queries=parts, reasoning="")})
    planned = await decompose_query.handle(ComplexQuestionFound(question=asked), ask)
    assert isinstance(planned, QueryDecomposed)
    assert [each.other_languages for each in ask.asked if isinstance(each, contracts.DecomposeQuery)] == [
        ("Spanish", "Korean")
    ]
    (lane,) = await open_lanes.handle(planned)
    hits = Hits()
    await retrieve.handle(lane, hits, Screen())
    assert [(each.query, each.language) for each in hits.asked] == [
        (parts[0].statement, each) for each in asked.languages
    ]


async def test_profile_limits_the_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    general = profile_of("general")
    few = msgspec.structs.replace(general.retrieval, sub_queries=2)
    monkeypatch.setattr(PROFILES, "_read", {"general": msgspec.structs.replace(general, retrieval=few)})
    parts = tuple(contracts.SubQuery(id=f"sq_{n}", statement=f"part {n}", focus="") for n in range(1, 4))
    ask = ScriptedAsk({"decompose_query": contracts.Decomposition(sub_queries=parts, reasoning="")})
    planned = await decompose_query.handle(ComplexQuestionFound(question=question()), ask)
    assert isinstance(planned, QueryDecomposed)
    assert [q.id for q in planned.sub_queries] == ["sq_1", "sq_2"]


async def test_a_second_round_plans_over_both() -> None:
    first, second = (
        usable_lanes((("sq_1", "a", ""), ("sq_2", "b", "")), "sq", 5),
        usable_lanes((("sq_add_1", "c", ""),), "sq_add", 3),
    )
    message = QueryDecomposed(lane="round2", question=question(), sub_queries=second, earlier=first, round=2)
    opened = await open_lanes.handle(message)
    assert isinstance(opened, tuple)
    assert [(each.sub_query.id, each.round, each.judged) for each in opened] == [("sq_add_1", 2, True)]
    assert opened[0].plan == first + second


@pytest.mark.parametrize(
    ("reply", "has_model", "shown"),
    [
        ("I only know about refunds. Ask me about those.", True, True),
        ("I only know about refunds. Ask me about those.", False, False),
        ("Team A won with 3 goals.", True, False),
        ("Je ne connais que les remboursements, posez une question.", True, False),
    ],
)
async def test_suggested_reply_is_shown(reply: str, has_model: bool, shown: bool) -> None:
    ask = ScriptedAsk({"classify_intent": msgspec.structs.replace(intent("out_of_scope"), suggested_response=reply)})
    with resolving_under(Defaults(has_model=has_model)):
        asked = QuestionAsked(question="Who won the match yesterday?", profile="support")
        settled = await classify_intent.handle(asked, ask)
    assert isinstance(settled, AnswerSettled)
    fixed = notices.declined_text("out_of_scope", "en")
    assert settled.settled.answer == (reply if shown else fixed)


@pytest.mark.parametrize("has_model", [False, True])
async def test_suggested_words_are_searched_for(has_model: bool) -> None:
    ask = ScriptedAsk({"classify_query": contracts.QueryClass(
        query_type="simple", confidence="high", reasoning="", suggested_search_term="refund deadline")})  # fmt: skip
    remember_languages({"en": 50, "fr": 49, "es": 2, "ko": 0, "und": 9, "zh": 1})
    with resolving_under(Defaults(has_model=has_model)):
        asked = resolved(QuestionAsked(question="How long do I have for a refund?"))
    assert asked.languages == (("en", "es", "fr") if has_model else ())
    planned = await classify_query.handle(QuestionReady(question=asked), ask)
    assert isinstance(planned, SubQueryPlanned)
    others = [each.other_languages for each in ask.asked if isinstance(each, contracts.ClassifyQuery)]
    assert others == [("Spanish", "French") if has_model else msgspec.UNSET]
    hits = Hits(languages={"en": 5})
    await retrieve.handle(planned, hits, Screen())
    first, *abroad = hits.asked
    assert (first.query, first.topic) == (planned.question.text, "refund deadline" if has_model else "")
    assert [(each.query, each.language) for each in abroad] == (
        [("refund deadline", each) for each in ("en", "es", "fr")] if has_model else []
    )
