"""Spans as OTLP has them in JSON, for a file: one request a line is what OpenTelemetry's collector writes and reads.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from collections.abc import Sequence
from typing import Any, Final

from runtime.telemetry.spans import Span, Value

_KINDS: Final = {"internal": 1, "server": 2, "client": 3}


def otlp_json(spans: Sequence[Span], service: str) -> dict[str, Any]:
    """The body of a request."""
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
