"""`/`: a page to try Groundwire on, in one file that takes nothing from elsewhere."""

import base64
import hashlib
import json
import re
from pathlib import Path

import msgspec
from aiohttp import web

from index.languages import FALLBACK, LANGUAGES, of
from index.languages.scripts import FROM_RIGHT
from runtime.edge.routes import Reply, Route


def words() -> dict[str, dict[str, str]]:
    """What stands on the page, by language: its words, its name as its speakers write it, and the direction it is read in."""
    return {
        language: msgspec.to_builtins(of(language).page)
        | {
            "name": of(language).identity.own_name,
            "direction": "rtl" if of(language).identity.script in FROM_RIGHT else "ltr",
        }
        for language in LANGUAGES
    }


PAGE = (
    Path(__file__)
    .with_name("page.html")
    .read_text(encoding="utf-8")
    .replace("{{words}}", json.dumps(words(), ensure_ascii=False).replace("<", "\\u003c"))
    .replace("{{fallback}}", FALLBACK)
    .encode()
)


def _digest(tag: bytes) -> str:
    """The policy's expression for the page's one inline script or style: no other may run."""
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


@Route("GET", "/", {200: Reply("The page.", "text/html")})
async def page(request: web.Request) -> web.Response:
    """Open the page to ask on."""
    return web.Response(body=PAGE, content_type="text/html", charset="utf-8", headers=HEADERS)


@Route("GET", "/favicon.ico", {204: Reply("There is none.")})
async def favicon(request: web.Request) -> web.Response:
    """Ask for the icon of the page."""
    return web.Response(status=204)  # answered, so that browsers leave no error in the log
