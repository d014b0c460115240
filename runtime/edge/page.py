"""`/`: one page to try it, in five languages; a single file without anything from elsewhere."""

import base64
import hashlib
import re
from pathlib import Path

from aiohttp import web

PAGE = Path(__file__).with_name("page.html").read_bytes()


def _digest(tag: bytes) -> str:
    """The source expression that lets the page's one inline script, or style, run and no other."""
    found = re.search(rb"<%b>(.*?)</%b>" % (tag, tag), PAGE, re.DOTALL)
    assert found is not None
    return f"'sha256-{base64.b64encode(hashlib.sha256(found[1]).digest()).decode()}'"


HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        f"default-src 'none'; script-src {_digest(b'script')}; style-src {_digest(b'style')}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


async def page(request: web.Request) -> web.Response:
    """GET /"""
    return web.Response(body=PAGE, content_type="text/html", charset="utf-8", headers=HEADERS)


async def favicon(request: web.Request) -> web.Response:
    """GET /favicon.ico: there is none, and saying so keeps it out of the error log."""
    return web.Response(status=204)


ROUTES = [web.get("/", page), web.get("/favicon.ico", favicon)]
