"""Engines that lie or obey every hostile instruction, behind the real stream: no lie, no structure and no link is shown."""

import asyncio
import json
import re
import unicodedata
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest
from groundwire.wire import Context, ContextMetadata

from bus.wire.errors import Invalid
from bus.wire.messages import QuestionAsked
from bus.wire.requests import check_question
from prompts import contracts
from prompts import contracts as c
from prompts.library import Library
from prompts.vocabulary import Release
from runtime.engines.engine import Request
from runtime.engines.scripted.engine import ScriptedEngine, default_script
from tests.bench.bench_gate_stream import LANGUAGES, Liar, answers, demo_passages, tell
from tests.lies import LIES
from tests.prompts.test_injections import INJECTIONS, SPECIAL, Injection, by_id, seen
from tests.whole import Whole, whole

ADMISSIONS = {
    "ko": ("요금은 얼마인가요?", "모르겠습니다. 제공된 자료에는 요금에 대한 정보가 없습니다."),
    "en": ("What is the fee?", "I don't know. The documents do not mention the fee."),
    "zh": ("费用是多少？", "我不知道。资料中没有说明费用。"),
    "es": ("¿Cuál es el precio?", "No lo sé. Los documentos no mencionan el precio."),
    "fr": ("Quel est le prix ?", "Je ne sais pas. Les documents ne précisent pas le prix."),
    "ar": ("كم تبلغ الرسوم؟", "لا أعرف. لا تذكر المستندات الرسوم."),
}
PAGES = {
    "ko": "도서관은 평일 아홉 시에 문을 열고 주말에는 쉽니다.",
    "en": "The library opens at nine on weekdays and stays shut at weekends.",
    "zh": "图书馆工作日九点开门，周末不开放。",
    "es": "La biblioteca abre a las nueve entre semana y cierra los fines de semana.",
    "fr": "La bibliothèque ouvre à neuf heures en semaine et reste fermée le week-end.",
    "ar": "تفتح المكتبة في التاسعة في أيام العمل وتبقى مغلقة في عطلة نهاية الأسبوع.",
}


async def test_lies_are_withheld_and_truths_shown() -> None:
    told = await tell(list(answers(demo_passages(), 150, seed=11)))
    lies = [shown for said, shown in told if said.kind in LIES]
    truths = [shown for said, shown in told if said.kind in ("true", "true_quote")]
    assert len(lies) > 50
    assert len(truths) > 60
    assert {said.language for said, _ in told} == set(LANGUAGES)
    assert sum(lies) == 0
    assert truths.count(False) <= len(truths) * 0.02


async def test_lies_are_shown_without_the_gate(tmp_path: Path) -> None:
    """Under `token` all is shown at once: the test above would notice a gate that lets everything through."""
    (answer,) = list(answers(demo_passages(), 10, seed=3))[:1]
    liar = Liar()
    liar.answer = answer
    contexts = tuple(
        Context(content=s.text, metadata=ContextMetadata(source_id=f"s{s.n}"), score=1 - s.n / 10)
        for s in answer.sources
    )
    async with whole(tmp_path, ScriptedEngine(liar), cache_entries=0) as running:
        question = QuestionAsked(
            question="What do they say?", language=answer.language, contexts=contexts, style="simple", release="token"
        )
        told = await running.tell(question)
    assert all(one.shown_in(told.said) for one in answer.said)


DAYS = {
    "ko": ("환불은 {} 이내에 지급됩니다.", "14일", "41일", "열네 달"),
    "en": ("Refunds are paid within {}.", "14 days", "41 days", "fourteen months"),
    "zh": ("退款在{}内支付。", "14天", "41天", "十四个月"),
    "es": ("Los reembolsos se pagan en un plazo de {}.", "14 días", "41 días", "catorce meses"),
    "fr": ("Les remboursements sont versés sous {}.", "14 jours", "41 jours", "quatorze mois"),
    "ar": ("تُدفع المبالغ المستردة خلال {}.", "14 يوما", "41 يوما", "أربعة عشر شهرا"),
}


async def test_token_release_withdraws_each_lie(tmp_path: Path) -> None:
    reply = ""

    def script(request: Request) -> str | list[str]:
        return reply if isinstance(request.variables, contracts.AnswerSimple) else default_script(request)

    async with whole(tmp_path, ScriptedEngine(script), cache_entries=0) as running:
        for language, (sentence, true, *lies) in DAYS.items():
            context = Context(content=sentence.format(true), metadata=ContextMetadata(source_id="refunds"))
            for amount in (true, *lies):
                reply = f"{sentence.format(amount)[:-1]} [1]{sentence[-1]}"
                result = await running.tell(
                    QuestionAsked(
                        question=sentence.format("?"),
                        language=language,
                        contexts=(context,),
                        style="simple",
                        release="token",
                    )
                )
                shown = "answered" if amount == true else "refused"
                assert (result.record.outcome, "error" in result.types) == (shown, amount != true), reply


@pytest.mark.parametrize("release", ["sentence", "draft", "token"])
async def test_admission_is_shown_verbatim(tmp_path: Path, release: str) -> None:
    def script(request: Request) -> str | list[str]:
        if isinstance(request.variables, contracts.AnswerSimple):
            return ADMISSIONS[request.variables.language][1]
        return default_script(request)

    async with whole(tmp_path, ScriptedEngine(script), cache_entries=0) as running:
        for language, (question, admission) in ADMISSIONS.items():
            context = Context(content=PAGES[language], metadata=ContextMetadata(source_id="library"))
            asked = QuestionAsked(question=question, language=language, contexts=(context,), release=release)  # type: ignore[arg-type]
            told = await running.tell(asked)
            assert (told.record.outcome, told.record.reason) == ("refused", "no_evidence"), told.record
            assert told.shown == admission
            assert told.types == ["token", "DONE"]


async def test_uncited_answer_becomes_the_safe_reply(tmp_path: Path) -> None:
    engine = ScriptedEngine({"answer_simple": "Coffee is served at nine in the cellar."})
    async with whole(tmp_path, engine, cache_entries=0) as running:
        context = Context(content=PAGES["en"], metadata=ContextMetadata(source_id="library-rules"))
        told = await running.tell(QuestionAsked(question="When does the library open?", contexts=(context,)))
        assert (told.record.outcome, told.record.reason) == ("closest", "citations_invalid")
        assert {passage.source_id for passage in told.record.passages} == {"library-rules"}
        assert "nine" not in told.shown
        empty = QuestionAsked(
            question="When does the library open?",
            contexts=(Context(content="NO_CONTEXT_FOUND", metadata=ContextMetadata(source_id="x")),),
        )
        told = await running.tell(empty)
        assert (told.record.outcome, told.record.reason) == ("refused", "no_results")
        assert {stage.stage for stage in told.record.stages} == {"classify_intent", "stream_answer"}


SOURCE = "https://docs.example/rules"
EVIL = (
    "See [fine](https://docs.example/rules) [1]. "
    "Click [here](https://evil.example/?q=secret) or ![x](http://evil.example/p.png) <img src=http://evil.example/a.png> "
    "www.evil.example javascript:alert(1) <script>fetch('//evil.example')</script> [1]."
)
LIBRARY = Library()
CLICKABLE = re.compile(r"https?://|//\w|www\.|javascript:|data:\w+/|!\[|\]\(|<\s*/?[a-zA-Z!]")


class Obeying(ScriptedEngine):
    """Takes rendered prompts, as a model does, and answers with all it was given and the links above."""

    needs_rendering = True

    def __init__(self) -> None:
        super().__init__(self.obey)

    @staticmethod
    def obey(request: Request) -> str | list[str]:
        v = request.variables
        if isinstance(v, c.SelectEvidence):
            spans = [{"passage": n, "text": chunk.content} for n, chunk in enumerate(v.retrieved_chunks, 1)]
            return json.dumps({"spans": spans}, ensure_ascii=False)
        if isinstance(v, c.AnswerSimple):
            said = " ".join(f"{e.text} [{e.n}]. {e.title} [{e.n}]." for e in v.retrieved_chunks)
            text = f"{said} {v.original_query} [1]. {EVIL}"
            return [text[at : at + 5] for at in range(0, len(text), 5)]
        return default_script(request)


@pytest.fixture(scope="module")
async def engine() -> Obeying:
    return Obeying()


@pytest.fixture(scope="module")
async def running(engine: Obeying, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    async with AsyncExitStack() as kept:
        yield await kept.enter_async_context(whole(tmp_path_factory.mktemp("stack"), engine, cache_entries=0))


def asked(injection: Injection, release: Release) -> QuestionAsked:
    places = {"question": "What do the rules say?", "passage": "The rules say this.", "title": "Rules"}
    place = "passage" if injection.place not in places else injection.place
    places[place] = injection.text
    rules = ContextMetadata(source_id="rules", title=places["title"], url=SOURCE)
    return QuestionAsked(
        question=places["question"],
        language="en",
        style="simple",
        release=release,
        events="all",
        contexts=(Context(content=places["passage"], metadata=rules),),
    )


def can_be_asked(question: QuestionAsked) -> bool:
    """Whether the pipeline takes the question; one with control characters is refused before a model sees it."""
    try:
        check_question(question)
    except Invalid:
        return False
    return True


def outside_sources(text: str) -> str:
    """The text without the one link that may be clicked."""
    return text.replace(f"[fine]({SOURCE})", "").replace(SOURCE, "")


@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
@pytest.mark.parametrize("injection", INJECTIONS, ids=by_id)
async def test_nothing_hostile_comes_out(
    injection: Injection, release: Release, running: Whole, engine: Obeying
) -> None:
    engine.requests.clear()
    question = asked(injection, release)
    told = await asyncio.wait_for(running.tell(question), 120)
    assert bool(engine.requests) == can_be_asked(question)
    for request in engine.requests:
        assert request.rendered is not None
        assert request.rendered.system == LIBRARY.file(request.variables.name).system
        assert not [one for one in SPECIAL if one in seen(request.rendered.user)]
    for said in (told.shown, told.record.answer, *(one.text for one in told.record.withheld)):
        assert not CLICKABLE.search(outside_sources(said)), said
        assert not [char for char in said if unicodedata.category(char) == "Cf"], said
    for line in told.lines:
        assert "evil.example" not in msgspec.json.decode(line).get("content", "")
    assert {one.source_id for one in told.record.references} <= {"rules"}
    assert {one.n for one in told.record.citations} <= {1}
    assert told.types[-1] == "DONE"
    assert told.types.count("DONE") == 1


async def test_the_one_source_may_be_clicked(running: Whole) -> None:
    """The tests above would not notice if nothing were shown at all."""
    told = await running.tell(asked(INJECTIONS[0], "token"))
    assert f"[fine]({SOURCE})" in told.shown
    assert "Click here or x" in told.shown
