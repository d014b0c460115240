"""Answers in JSON."""

import msgspec
from aiohttp import web


def json_response(value: msgspec.Struct, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status,
        body=msgspec.json.encode(value),
        content_type="application/json",
        charset="utf-8",
        headers=headers,
    )
