"""Send the spans of finished runs by OTLP over HTTP, in Protocol Buffers: to a collector, or to whatever speaks its language.

    https://opentelemetry.io/docs/specs/otlp/#otlphttp

For a file they are JSON: one request a line is what OpenTelemetry's collector writes and reads.

    https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

One process of the actors sends them when `telemetry.otlp` names an address. What the receiver does not take is logged, and lost
to it; the journal keeps the runs.
"""

import base64
import importlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import unquote

import aiohttp

from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.transport.envelope import set_aside
from bus.transport.follow import Following
from bus.transport.health import Watch
from bus.wire.errors import Unavailable
from bus.wire.messages import RunFinished
from bus.wire.subjects import RUNS, BadId, consumed_subject, is_canary, parse
from runtime.settings import TelemetrySettings
from runtime.telemetry.spans import Span, Value, spans_of

log = logging.getLogger("groundwire.telemetry")

PATH = "/v1/traces"
TIMEOUT = aiohttp.ClientTimeout(total=10.0)


class Exporter:
    """Sends each run that ends while `working` returns true."""

    def __init__(self, settings: TelemetrySettings, journal: Journal, working: Callable[[], bool]) -> None:
        """Raises Unavailable when what it needs is not installed."""
        try:
            importlib.import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
        except ImportError:
            raise Unavailable(
                "telemetry.otlp needs the package opentelemetry-proto; install groundwire[otel]"
            ) from None
        self.watch = Watch()
        self._client = journal.client
        self._journal = journal
        self._working = working
        self._content = settings.content
        self._service = settings.service
        self._url = address(settings.otlp)
        self._headers = headers_in(settings.otlp_headers) | {"Content-Type": "application/x-protobuf"}
        self._http: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._http = aiohttp.ClientSession(timeout=TIMEOUT)
        self.watch.keep("the spans", self._run)

    async def stop(self) -> None:
        await self.watch.stop()
        if self._http is not None:
            await self._http.close()

    async def _run(self) -> None:
        ends = Following(self._client, RUNS, [consumed_subject(RunFinished)], headers_only=True)
        async for batch in ends.batches():
            if self._working():
                ended = [run_id for stored in batch if (run_id := _ended(stored.subject))]
                await self.tell([await self._journal.run(run_id) for run_id in ended])

    async def tell(self, runs: Sequence[Sequence[Record]]) -> None:
        """Send the spans of these runs."""
        spans = [span for records in runs for span in spans_of(records, content=self._content)]
        if not spans:
            return
        assert self._http is not None
        body = encoded(spans, self._service)
        try:
            async with self._http.post(self._url, data=body, headers=self._headers, allow_redirects=False) as response:
                problem = "" if 200 <= response.status < 300 else f"answers {response.status}"
        except (aiohttp.ClientError, TimeoutError) as error:
            problem = f"does not answer ({type(error).__name__})"
        if problem:
            log.warning(
                "the receiver of spans %s: %d runs are lost to it; see telemetry.otlp and telemetry.otlp_headers",
                problem,
                len(runs),
            )


def _ended(subject: str) -> str:
    """The run whose last record has this subject; empty for a question of readiness."""
    try:
        run_id = parse(subject).run_id
    except BadId as error:
        set_aside("subject", subject, error)
        return ""
    return "" if is_canary(run_id) else run_id


def address(otlp: str) -> str:
    """Where to send to: the specification's path is added to a base."""
    base = otlp.rstrip("/")
    return base if base.endswith(PATH) else base + PATH


def headers_in(setting: str) -> dict[str, str]:
    """`authorization=Bearer%20x,project=y`, as OTEL_EXPORTER_OTLP_HEADERS has it."""
    pairs = (each.partition("=") for each in setting.split(",") if each.strip())
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}


def encoded(spans: Sequence[Span], service: str) -> bytes:
    """The request's body: ids are hexadecimal in OTLP's JSON, and base64 in that of Protocol Buffers."""
    from google.protobuf.json_format import ParseDict  # type: ignore[import-untyped]
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    told = otlp_json(spans, service)
    for span in told["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId", "parentSpanId"):
            span[name] = base64.b64encode(bytes.fromhex(span.get(name, ""))).decode()
    body: bytes = ParseDict(told, ExportTraceServiceRequest()).SerializeToString()
    return body


_KINDS: Final = {"internal": 1, "server": 2, "client": 3}


def otlp_json(spans: Sequence[Span], service: str) -> dict[str, Any]:
    told = {"scope": {"name": "groundwire"}, "spans": [_span(each) for each in spans]}
    resource = {"attributes": [{"key": "service.name", "value": _value(service)}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [told]}]}


def _span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        **({"parentSpanId": span.parent_id} if span.parent_id else {}),
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": str(round(span.began * 1e9)),
        "endTimeUnixNano": str(round(span.ended * 1e9)),
        "attributes": [{"key": name, "value": _value(value)} for name, value in span.attributes.items()],
        **({"status": {"code": 2}} if span.error else {}),
    }


def _value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
    return {"arrayValue": {"values": [_value(each) for each in value]}}
