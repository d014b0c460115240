"""JSON responses, and the response headers that identify a run."""

import msgspec
from aiohttp import web


def json_response(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(status=status, body=body, content_type="application/json", charset="utf-8", headers=headers)


def run_headers(run_id: str) -> dict[str, str]:
    return {"X-Run-Id": run_id, "Location": f"/v1/runs/{run_id}"}
