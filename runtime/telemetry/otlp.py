"""Send the spans of finished runs by OTLP over HTTP, in Protocol Buffers: to a collector, or to whatever speaks its language.

    https://opentelemetry.io/docs/specs/otlp/#otlphttp

Every process of the actors does so when `telemetry.otlp` names an address, each run once. While the receiver is away the runs
wait in the journal, for an hour.
"""

import importlib
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

import aiohttp

from bus.journal.handing_over import hand_over
from bus.journal.journal import Journal
from bus.journal.records import Record
from bus.transport.connection import Client
from bus.transport.watched import Watch
from bus.wire.errors import Unavailable
from runtime.settings import TelemetrySettings
from runtime.telemetry.spans import Span, Value, spans_of

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as Encoded

log = logging.getLogger("groundwire.telemetry")

#: The durable consumer.
NAME = "telemetry"
PATH = "/v1/traces"
TIMEOUT = aiohttp.ClientTimeout(total=10.0)
#: What the specification says to try again; anything else the receiver will never take.
AGAIN = frozenset({429, 502, 503, 504})


class Exporter:
    """Tells of each run that ends. `start` and `stop` with the process."""

    def __init__(self, settings: TelemetrySettings, client: Client, journal: Journal) -> None:
        """Raises Unavailable when what it needs is not installed."""
        try:
            importlib.import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
        except ImportError:
            raise Unavailable(
                "telemetry.otlp needs the package opentelemetry-proto; install groundwire[otel]"
            ) from None
        self.watch = Watch()
        self._client = client
        self._journal = journal
        self._content = settings.content
        self._service = settings.service
        self._url = address(settings.otlp)
        self._headers = headers_in(settings.otlp_headers) | {"Content-Type": "application/x-protobuf"}
        self._http: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._http = aiohttp.ClientSession(timeout=TIMEOUT)
        self.watch.keep("the spans", lambda: hand_over(self._client, self._journal, NAME, self.tell))

    async def stop(self) -> None:
        await self.watch.stop()
        if self._http is not None:
            await self._http.close()

    async def tell(self, runs: Sequence[Sequence[Record]]) -> None:
        """Send the spans of these runs. Raises Unavailable when the receiver cannot take them now."""
        spans = [span for records in runs for span in spans_of(records, content=self._content)]
        if not spans:
            return
        assert self._http is not None
        body = encoded(spans, self._service)
        try:
            async with self._http.post(self._url, data=body, headers=self._headers, allow_redirects=False) as response:
                status = response.status
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unavailable(
                f"the receiver of spans does not answer ({type(error).__name__}); see telemetry.otlp"
            ) from None
        if status in AGAIN:
            raise Unavailable(f"the receiver of spans answers {status}")
        if not 200 <= status < 300:
            log.warning(
                "the receiver of spans refuses them (%d); see telemetry.otlp and telemetry.otlp_headers", status
            )


def address(otlp: str) -> str:
    """Where to send to: the specification's path is added to a base."""
    base = otlp.rstrip("/")
    return base if base.endswith(PATH) else base + PATH


def headers_in(setting: str) -> dict[str, str]:
    """`authorization=Bearer%20x,project=y`, as OTEL_EXPORTER_OTLP_HEADERS has it."""
    pairs = (each.partition("=") for each in setting.split(",") if each.strip())
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}


def encoded(spans: Sequence[Span], service: str) -> bytes:
    """The request's body."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

    told = ScopeSpans(scope=InstrumentationScope(name="groundwire"), spans=[_span(each) for each in spans])
    resource = Resource(attributes=[KeyValue(key="service.name", value=_value(service))])
    request = ExportTraceServiceRequest(resource_spans=[ResourceSpans(resource=resource, scope_spans=[told])])
    body: bytes = request.SerializeToString()
    return body


def _span(span: Span) -> "Encoded":
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as Encoded
    from opentelemetry.proto.trace.v1.trace_pb2 import Status

    kinds = {
        "server": Encoded.SPAN_KIND_SERVER,
        "client": Encoded.SPAN_KIND_CLIENT,
        "internal": Encoded.SPAN_KIND_INTERNAL,
    }
    return Encoded(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id),
        name=span.name,
        kind=kinds[span.kind],
        start_time_unix_nano=round(span.began * 1e9),
        end_time_unix_nano=round(span.ended * 1e9),
        attributes=[KeyValue(key=name, value=_value(value)) for name, value in span.attributes.items()],
        status=Status(code=Status.STATUS_CODE_ERROR) if span.error else None,
    )


def _value(value: Value) -> "AnyValue":
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue

    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
    return AnyValue(array_value=ArrayValue(values=[_value(each) for each in value]))
