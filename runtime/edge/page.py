"""`/`: a page to try Groundwire on, in one file that loads nothing else."""

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
    """The page's texts by language, with the language's own name and its reading direction."""
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
    """The Content-Security-Policy hash of the page's one inline script or style; no other may run."""
    found = re.search(rb"<%b>(.*?)</%b>" % (tag, tag), PAGE, re.DOTALL)
    assert found is not None
    return f"'sha256-{base64.b64encode(hashlib.sha256(found[1]).digest()).decode()}'"


HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        f"default-src 'none'; script-src {_digest(b'script')}; style-src {_digest(b'style')}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@Route("GET", "/", {200: Reply("The page, in HTML.", "text/html")}, "none")
async def page(request: web.Request) -> web.Response:
    """Open a page for asking questions."""
    return web.Response(body=PAGE, content_type="text/html", charset="utf-8", headers=HEADERS)


@Route("GET", "/favicon.ico", {204: Reply("There is no icon.")}, "none")
async def favicon(request: web.Request) -> web.Response:
    """Answer a browser's request for the page's icon."""
    return web.Response(status=204)  # answered, so that browsers log no error
