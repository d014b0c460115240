"""A finished run reaches a receiver of OTLP as one trace, and without any of its words."""

import contextlib
import json
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from bus.journal.records import RECEIVED, TRACEPARENT
from bus.wire.messages import RunFinished
from bus.wire.subjects import RUNS, consumed_subject
from runtime.settings import SettingsError, TelemetrySettings, load
from runtime.telemetry.otlp import Exporter, address, headers_in
from runtime.telemetry.spans import spans_of
from tests.polling import until
from tests.web_servers import served
from tests.whole import Whole

QUESTION = "How many days until refunds are paid?"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@dataclass
class Receiver:
    """Keeps what it is sent, or answers with another status."""

    url: str = ""
    status: int = 200
    asked: int = 0
    spans: list[Span] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        self.asked += 1
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if self.status == 200:
            self.bodies.append(await request.read())
            told = ExportTraceServiceRequest.FromString(self.bodies[-1])
            self.spans += [s for r in told.resource_spans for scope in r.scope_spans for s in scope.spans]
        return web.Response(status=self.status)

    def of(self, run_id: str) -> list[Span]:
        """The spans of the trace that this run's whole span is in, that one first."""
        whole = [span for span in self.spans if attributes(span).get("groundwire.run_id") == run_id]
        return whole + [s for s in self.spans if whole and s.trace_id == whole[0].trace_id and s not in whole]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    async with served(web.post("/v1/traces", made.take)) as made.url:
        yield made


@contextlib.asynccontextmanager
async def exporting(run: Whole, receiver: Receiver, **settings: object) -> AsyncIterator[Exporter]:
    chosen = TelemetrySettings(otlp=receiver.url, **settings)  # type: ignore[arg-type]
    made = Exporter(chosen, run.worker.journal, lambda: True)
    await made.start()
    await until(lambda: listening(run))
    yield made
    await made.stop()


async def listening(run: Whole) -> bool:
    ends = consumed_subject(RunFinished)
    consumers = await run.journal.js.consumers_info(RUNS)
    return any(info.config.headers_only and ends in (info.config.filter_subjects or ()) for info in consumers)


async def ask(run: Whole, **headers: str) -> str:
    run_id = secrets.token_hex(8)
    question = json.dumps({"question": QUESTION}).encode()
    await run.journal.js.publish(f"gw.question_asked.{run_id}", question, headers=headers or None)
    assert [line async for _, line in run.runs.events(run_id)][-1] == b'{"type":"DONE"}'
    return run_id


def attributes(span: Span) -> dict[str, object]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


async def test_run_is_one_trace_down_to_the_device(run: Whole, receiver: Receiver) -> None:
    async with exporting(run, receiver, service="docs", otlp_headers="authorization=Bearer%20x, project=y"):
        run_id = await ask(run, **{TRACEPARENT: f"00-{TRACE}-{PARENT}-01"})
        await until(lambda: receiver.of(run_id))
    whole, *others = receiver.of(run_id)
    assert (whole.trace_id.hex(), whole.parent_span_id.hex()) == (TRACE, PARENT)
    assert (whole.name, whole.kind) == ("invoke_workflow general", Span.SPAN_KIND_SERVER)
    told = attributes(whole)
    assert (told["gen_ai.operation.name"], told["gen_ai.workflow.name"]) == ("invoke_workflow", "general")
    assert (told["groundwire.outcome"], told["groundwire.via"]) == ("answered", "nats")
    stages = [span for span in others if span.parent_span_id == whole.span_id]
    assert {"classify_intent", "retrieve", "answer_synthesis", "stream_answer"} & {span.name for span in stages}
    by_id = {span.span_id: span for span in (whole, *others)}
    assert len(by_id) == len(others) + 1
    for span in others:
        parent = by_id[span.parent_span_id]
        assert parent.start_time_unix_nano - 5_000_000 <= span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.end_time_unix_nano <= parent.end_time_unix_nano + 5_000_000
    chats = [attributes(span) for span in others if span.name.startswith("chat ")]
    assert chats
    assert all(each["gen_ai.operation.name"] == "chat" for each in chats)
    assert {"gen_ai.request.model", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"} <= chats[0].keys()
    search = next(attributes(span) for span in others if span.name.startswith("retrieval "))
    assert search["gen_ai.operation.name"] == "retrieval"
    assert search["groundwire.hits"]
    assert (receiver.headers[0]["authorization"], receiver.headers[0]["project"]) == ("Bearer x", "y")
    request = ExportTraceServiceRequest.FromString(receiver.bodies[0])
    assert request.resource_spans[0].resource.attributes[0].value.string_value == "docs"


async def test_spans_contain_no_text(run: Whole, receiver: Receiver) -> None:
    async with exporting(run, receiver):
        run_id = await ask(run)
        await until(lambda: receiver.of(run_id))
    said = b"".join(receiver.bodies)
    for words in (b"refund", b"14 days", b"shipping", b"example.org"):
        assert words not in said


async def test_setting_adds_text_to_spans(run: Whole, receiver: Receiver) -> None:
    async with exporting(run, receiver, content=True):
        run_id = await ask(run)
        await until(lambda: receiver.of(run_id))
    told = attributes(receiver.of(run_id)[0])
    assert QUESTION in str(told["gen_ai.input.messages"])
    assert "14 days" in str(told["gen_ai.output.messages"])


async def test_absent_receiver_loses_spans_alone(run: Whole, receiver: Receiver) -> None:
    receiver.status = 503
    async with exporting(run, receiver) as exporter:
        lost = await ask(run)
        await until(lambda: receiver.asked == 1)
        receiver.status = 200
        later = await ask(run)
        await until(lambda: receiver.of(later))
        assert not exporter.watch.down
    assert not receiver.of(lost)


async def test_failed_run_is_an_error_span(run: Whole) -> None:
    await run.journal.js.publish("gw.question_asked.no-question", b'{"question": "a", "profile": "secret-words"}')
    assert len([line async for _, line in run.runs.events("no-question")]) == 2
    (failed,) = spans_of(await run.journal.run("no-question"))
    assert (failed.error, failed.attributes["error.type"]) == ("invalid", "invalid")
    assert "secret-words" not in str({**failed.attributes, "gen_ai.workflow.name": ""})
    unsampled = await ask(run, **{TRACEPARENT: f"00-{TRACE}-{PARENT}-00"})
    assert spans_of(await run.journal.run(unsampled)) == []
    assert Status.STATUS_CODE_ERROR == 2


async def test_admission_wait_is_a_span(run: Whole) -> None:
    records = await run.journal.run(await ask(run, **{RECEIVED: f"{time.time() - 2:.6f}"}))
    whole, waited, *_ = spans_of(records)
    assert (waited.name, waited.parent_id, waited.began) == ("admission", whole.span_id, whole.began)
    assert waited.ended - waited.began > 1.5


async def test_same_run_makes_the_same_spans(run: Whole) -> None:
    records = await run.journal.run(await ask(run))
    once = spans_of(records)
    assert once == spans_of(records)
    assert len(once[0].trace_id) == 32
    assert once[0].parent_id == ""


@pytest.mark.parametrize(
    ("otlp", "sent_to"),
    [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("https://example.org/otlp/", "https://example.org/otlp/v1/traces"),
        ("http://127.0.0.1:6006/v1/traces", "http://127.0.0.1:6006/v1/traces"),
    ],
)
def test_path_is_added_to_a_base(otlp: str, sent_to: str) -> None:
    assert address(otlp) == sent_to


def test_headers_follow_the_opentelemetry_format() -> None:
    assert headers_in("") == {}
    assert headers_in("a=1, b = x%3Dy%20z ,") == {"a": "1", "b": "x=y z"}


def test_invalid_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="telemetry"):
        load(environ={"GROUNDWIRE_TELEMETRY_OTLP": "localhost:4318"})
