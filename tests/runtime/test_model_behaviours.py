"""What becomes of a run whose model misbehaves, behind the real openai engine: its outcome, what the person reads, and the calls.

The server answers the other prompts as a competent model would.
"""

import json
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
from aiohttp import web
from groundwire.wire import Context, ContextMetadata

from bus.powers import asking
from prompts import notices
from runtime.engines.openai.engine import OpenAIEngine
from tests.polling import until
from tests.runtime.engines.fake_server import Answer, Fake, sends, serving, streams
from tests.runtime.engines.test_server_formats import LAST, events, piece
from tests.whole import Whole, whole

TEXT = "Refunds are paid within 14 days of the return. The shipping fee of 3,000 won is not refunded."
CONTEXTS = (Context(content=TEXT, metadata=ContextMetadata(source_id="refunds.md", title="Refunds")),)
GOOD = "Refunds are paid within 14 days of the return [1]."
FRENCH = "Les remboursements sont versés dans les 14 jours suivant le retour [1]."
SYNTHESIS = {"answer": GOOD, "used_citations": [1], "confidence": "high", "refused": False, "refuse_reason": ""}
COMPETENT: dict[str, object] = {
    "classify_intent": {
        "intent": "in_scope", "confidence": "high", "category": "general", "reasoning": "", "suggested_response": "",
    },
    "classify_query": {"query_type": "simple", "confidence": "high", "reasoning": "", "suggested_search_term": ""},
    "select_evidence": {"spans": [{"passage": 1, "text": TEXT}]},
    "verify_answer": {"contradictions": []},
    "answer_synthesis": SYNTHESIS,
    "guard_language": GOOD,
}  # fmt: skip


class Model(Fake):
    """`misbehaves`: its answers to one prompt; the last one repeats."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt, self.misbehaves = "", [streams("")]
        self.asked: list[str] = []

    async def chat(self, asked: web.Request) -> web.StreamResponse:
        body = await asked.json()
        form = body.get("response_format", {})
        translates = "target language" in str(body["messages"])
        prompt = form["json_schema"]["name"] if form else "guard_language" if translates else "answer_simple"
        self.asked.append(prompt)
        if prompt != self.prompt:
            said = COMPETENT[prompt]
            return await streams(said if isinstance(said, str) else json.dumps(said))(asked)
        return await (self.misbehaves.pop(0) if len(self.misbehaves) > 1 else self.misbehaves[0])(asked)


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Whole, Model]]:
    folder = tmp_path_factory.mktemp("behaves")
    async with serving(Model()) as model:
        assert isinstance(model, Model)
        engine = OpenAIEngine(model.url, attempts=1)
        async with whole(folder, engine, cache_entries=0) as run:
            yield run, model
        await engine.close()


class Row(NamedTuple):
    """`calls` for the answer, without the verifier's; `shown` is part of what the person reads, `detail` of the record's."""

    model: list[Answer]
    outcome: str
    reason: str | None
    calls: int
    shown: str
    style: str = "simple"


def says(text: str, reason: str = "stop") -> list[Answer]:
    return [streams(text, reason=reason)]


def json_of(**change: object) -> list[Answer]:
    return says(json.dumps(SYNTHESIS | change))


REFUSED = notices.text("replies", "content_refused", "en")
TOO_LONG = notices.reason_text("model_too_long", "en")
MALFORMED = notices.reason_text("model_malformed", "en")
#: Nobody reads a model's thinking, half a sentence, or the name of an exception.
NEVER = ("30 days", "<think", "negot", "Error", "Traceback")
THOUGHT = "<think>It is 30 days, no, 14.</think>"
ROWS = {
    # thinks aloud
    "thinks in tags": Row(says(THOUGHT + GOOD), "answered", None, 1, GOOD),
    "thinks in a field": Row(
        [sends(*events(piece({"reasoning_content": "30 days?"}), piece({"content": GOOD}, "stop"), LAST))],
        "answered", None, 1, GOOD,
    ),
    "thinks without an end": Row(says(f"<think>{GOOD} " * 3, "length"), "failed", "model_too_long", 1, TOO_LONG),
    "thinks in a field, without an end": Row(
        [sends(*events(piece({"reasoning": "30 days?"}), piece({}, "length"), LAST))], "failed", "model_too_long", 1, TOO_LONG
    ),
    "thinks before JSON": Row(says(THOUGHT + json.dumps(SYNTHESIS)), "answered", None, 1, GOOD, "synthesis"),
    "thinks inside JSON": Row(json_of(answer=THOUGHT + GOOD), "answered", None, 1, GOOD, "synthesis"),
    # refuses
    "refuses in its field": Row(
        [sends(*events(piece({"refusal": "I cannot."}), piece({}, "stop"), LAST))], "closest", "model_refused", 1, REFUSED
    ),
    "is filtered": Row(says("", "content_filter"), "closest", "model_refused", 1, REFUSED),
    "is filtered in the middle": Row(
        [sends(*events(piece({"content": f"{GOOD} And"}), piece({}, "content_filter: SAFETY"), LAST))],
        "failed", "model_refused", 1, notices.reason_text("model_refused", "en"),
    ),
    "refuses in JSON": Row(json_of(answer="", refused=True, refuse_reason="Only fees are covered."), "closest", "model_refused", 1,
                           "Only fees are covered.", "synthesis"),
    "refuses in words": Row(says("I'm sorry, but I cannot help with that."), "closest", "citations_invalid", 1, TEXT),
    # repeats
    "repeats a sentence": Row(says(f"{GOOD} " * 40, "length"), "answered", None, 1, GOOD),
    "repeats a word": Row(says("refunds " * 3000, "length"), "closest", "citations_invalid", 1, TEXT),
    "repeats in JSON": Row(says('{"answer": "' + "paid " * 3000, "length"), "failed", "model_too_long", 2, TOO_LONG, "synthesis"),
    # stops early
    "stops in a word": Row(says(f"{GOOD} The shipping fee is not negot", "length"), "answered", None, 1, GOOD),
    "stops in the first word": Row(says("Refun", "length"), "closest", "citations_invalid", 1, TEXT),
    "says nothing": Row(says(""), "closest", "citations_invalid", 1, TEXT),
    # answers in another language
    "answers in French": Row(says(FRENCH), "answered", None, 1, GOOD),
    "answers in French, in JSON": Row(json_of(answer=FRENCH), "answered", None, 1, GOOD, "synthesis"),
    # ignores the schema
    "writes prose": Row(says(GOOD), "failed", "model_malformed", 2, MALFORMED, "synthesis"),
    "writes prose once": Row(says(GOOD) + json_of(), "answered", None, 2, GOOD, "synthesis"),
    "fences JSON": Row(says(f"```json\n{json.dumps(SYNTHESIS)}\n```"), "answered", None, 1, GOOD, "synthesis"),
    "adds text to JSON": Row(says(json.dumps(SYNTHESIS) + " Hope this helps!") + json_of(), "answered", None, 2, GOOD, "synthesis"),
    "writes wrong types": Row(json_of(used_citations="1"), "failed", "model_malformed", 2, MALFORMED, "synthesis"),
    "adds a key": Row(json_of(mood="fine"), "answered", None, 1, GOOD, "synthesis"),
    "writes too long a list": Row(json_of(used_citations=[1] * 500), "answered", None, 1, GOOD, "synthesis"),
    "writes too long a text": Row(json_of(answer=f"{GOOD} " * 60), "answered", None, 1, GOOD, "synthesis"),
    "writes nulls": Row(json_of(refuse_reason=None, used_citations=None), "answered", None, 1, GOOD, "synthesis"),
    "writes null": Row(says("null"), "failed", "model_malformed", 2, MALFORMED, "synthesis"),
    "opens 100,000 brackets": Row(says("[" * 100_000), "failed", "model_malformed", 2, MALFORMED, "synthesis"),
    "closes 4,000 brackets": Row(says("[" * 4000 + "]" * 4000), "failed", "model_malformed", 2, MALFORMED, "synthesis"),
    "nests in a text": Row(says(json.dumps(SYNTHESIS).replace(f'"{GOOD}"', "[" * 900 + "]" * 900)), "failed", "model_malformed", 2,
                           MALFORMED, "synthesis"),
    "streams brackets": Row([sends("data: " + "[" * 100_000 + "\n\n")], "failed", "model_malformed", 2, MALFORMED),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_misbehaviour_has_an_outcome(
    stack: tuple[Whole, Model], row: Row, request: pytest.FixtureRequest
) -> None:
    run, model = stack
    prompt = f"answer_{row.style}"
    model.prompt, model.misbehaves, model.asked = prompt, list(row.model), []
    events, record = await run.ask(
        f"When are refunds paid, in {request.node.callspec.id}?", contexts=CONTEXTS, style=row.style
    )
    read = "".join(str(event.get("content", "")) for event in events) + str(record.answer)
    assert (record.outcome, record.reason, model.asked.count(prompt)) == (row.outcome, row.reason, row.calls), (
        record.detail
    )
    assert row.shown in read + "".join(passage.text for passage in record.passages or ())
    assert [word for word in NEVER if word in f"{read} {record.detail}"] == []


async def test_pause_in_a_sentence(stack: tuple[Whole, Model], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that thinks between two words is waited for, three times as long as a silent one; a second lasts 50 ms here."""
    run, model = stack
    monkeypatch.setattr(asking, "ALIVE_S", 0.05)
    monkeypatch.setattr(asking, "SILENCE_S", 1.0)
    signs: list[asking.AskFrame] = []
    send = asking.AskServer._send

    async def counted(self: asking.AskServer, reply: str, frame: asking.AskFrame) -> None:
        signs.append(frame)
        await send(self, reply, frame)

    monkeypatch.setattr(asking.AskServer, "_send", counted)

    async def pauses(asked: web.Request) -> web.StreamResponse:
        signs.clear()
        begun, rest = events(
            piece({"content": "Refunds are paid "}), piece({"content": GOOD[17:]}, "stop"), LAST, done=""
        )[:2]
        response = await sends(begun)(asked)
        await until(lambda: sum(isinstance(sign, asking.Alive) for sign in signs) >= 60)
        await response.write(rest.encode())
        return response

    model.prompt, model.misbehaves, model.asked = "answer_simple", [pauses], []
    _, record = await run.ask("When are refunds paid after a pause?", contexts=CONTEXTS)
    assert (record.outcome, record.answer, model.asked.count("answer_simple")) == ("answered", GOOD, 1)


async def test_pause_beyond_the_deadline(stack: tuple[Whole, Model]) -> None:
    run, model = stack

    async def pauses(asked: web.Request) -> web.StreamResponse:
        response = await sends(*events(piece({"content": f"{GOOD} "}), done=""))(asked)
        await model.release.wait()
        return response

    model.prompt, model.misbehaves = "answer_simple", [pauses]
    events_, record = await run.ask("When are refunds paid before a pause?", contexts=CONTEXTS, deadline_s=4.0)
    assert (record.outcome, record.reason) == ("failed", "timeout")
    assert notices.reason_text("timeout", "en") in str(events_)
