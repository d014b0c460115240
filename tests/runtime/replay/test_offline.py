"""A run made and replayed in this process alone: no nats-server, no index, no model, no network."""

import socket

import pytest
from groundwire.wire import Context, ContextMetadata, Turn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.pipeline import pipeline
from bus.wire.messages import QuestionAsked
from runtime.replay.replayer import replay
from runtime.replay.trace import dump, load
from tests.made_runs import made


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a replay opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


TEXTS = {
    "en": (
        "Refunds are paid within 14 days of the return. Shipping costs 3,000 won. The shop must not sell knives.",
        ["When are refunds paid?", "Compare refunds and shipping, and explain who sells knives.", "thanks"],
    ),
    "ko": (
        "환불은 14일 이내에 처리됩니다. 배송비는 3,000원입니다. 칼은 판매할 수 없습니다.",
        ["환불은 며칠 걸리나요?", "환불과 배송비의 차이와 칼 판매 여부를 비교해 주세요.", "안녕하세요"],
    ),
    "zh": (
        "退款在14天内支付。运费为30元。商店不得出售刀具。",
        ["退款需要多少天？", "比较退款和运费，并说明刀具的规定。", "你好"],
    ),
    "fr": (
        "Le remboursement est versé sous 14 jours. La livraison coûte 30 euros. La vente de couteaux est interdite.",
        ["Quand le remboursement est-il versé ?", "Comparez le remboursement et la livraison.", "merci"],
    ),
    "ar": (
        "يُدفع المبلغ خلال 14 يومًا. تكلفة الشحن 30 ريالًا. يُحظر بيع السكاكين.",
        ["متى يُدفع المبلغ؟", "قارن بين الدفع والشحن.", "مرحبا"],
    ),
}


@st.composite
def questions(draw: st.DrawFn) -> QuestionAsked:
    language = draw(st.sampled_from(sorted(TEXTS)))
    texts = draw(st.lists(st.sampled_from([text for text, _ in TEXTS.values()]), max_size=3))
    history = draw(st.sampled_from([(), (Turn(role="user", content=TEXTS[language][1][0]),)]))
    return QuestionAsked(
        question=draw(st.sampled_from(TEXTS[language][1]) | st.text("abc 0?!.한字", min_size=1, max_size=30)),
        conversation_history=history,
        contexts=tuple(
            Context(content=text, metadata=ContextMetadata(source_id=f"d{n}", title=text[:9]))
            for n, text in enumerate([TEXTS[language][0], *texts])
        ),
        profile=draw(st.sampled_from(["general", "library", "tutor", "support", "myopia"])),
        release=draw(st.sampled_from([None, "sentence", "draft", "token"])),
        style=draw(st.sampled_from([None, "simple", "report", "synthesis", "structured", "hint"])),
        events=draw(st.sampled_from(["default", "all"])),
    )


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(questions())
async def test_every_run_replays_from_its_file(question: QuestionAsked) -> None:
    trace = load(list(dump(await made(question, (), "made"))), name="file")
    done = await replay(trace, pipeline())
    assert done.divergence is None
    assert done.finished
    assert done.events == len(trace.lines) > 0
    # Twice, since a replay that left something behind would differ the second time.
    assert await replay(trace, pipeline()) == done
