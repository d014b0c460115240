"""The page: one document for all its addresses, and its modules and styles, served under a digest of all of them.

Modules import one another by relative address, so a new digest replaces the page as a whole and caches never mix two versions.
`words.js` is made here from the languages' tables. There is no build step and no external file.
"""

import hashlib
import json
from pathlib import Path

from aiohttp import hdrs, web

from bus.wire.subjects import check_id
from index.languages import FALLBACK, LANGUAGES, of
from index.languages.characters import FROM_RIGHT
from prompts.notices import comma
from runtime.edge.problems import Problem
from runtime.edge.routes import Reply, Route, parameter

HERE = Path(__file__).parent
TYPES = {".js": "text/javascript", ".css": "text/css"}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
#: A year: a file under a digest never changes.
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def words() -> dict[str, dict[str, object]]:
    """The page's texts by language, with the language's own name and its reading direction."""
    found: dict[str, dict[str, object]] = {}
    for language in LANGUAGES:
        sections, identity = dict(of(language).page), of(language).identity
        own = {"comma": comma(language), "name": identity.own_name}
        direction = "rtl" if identity.script in FROM_RIGHT else "ltr"
        found[language] = {**sections.pop("words"), **sections, **own, "direction": direction}
    return found


def _digest(parts: bytes) -> str:
    return hashlib.sha256(parts).hexdigest()[:16]


FILES = {path.name: path.read_bytes() for path in sorted(HERE.iterdir()) if path.suffix in TYPES}
FILES["words.js"] = (
    f"export const FALLBACK = {json.dumps(FALLBACK)};\n"
    f"export const WORDS = {json.dumps(words(), ensure_ascii=False)};\n"
).encode()
DIGEST = _digest(b"\0".join(name.encode() + b"\0" + data for name, data in FILES.items()))
DOCUMENT = (HERE / "index.html").read_bytes().replace(b"{{digest}}", DIGEST.encode())
ETAG = f'"{_digest(DOCUMENT)}"'

_FILE = (
    parameter("digest", "path", "The digest that the page names.", type="string", pattern="^[0-9a-f]{16}$"),
    parameter("name", "path", "The name of the file.", type="string", pattern=r"^[a-z]+\.(js|css)$"),
)
_PAGE = {200: Reply("The page, in HTML.", "text/html"), 304: Reply("The page has not changed.")}


def _document(request: web.Request) -> web.Response:
    headers = HEADERS | {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY, "ETag": ETAG}
    if ETAG in request.headers.get(hdrs.IF_NONE_MATCH, ""):
        return web.Response(status=304, headers=headers)
    return web.Response(body=DOCUMENT, content_type="text/html", charset="utf-8", headers=headers)


@Route("GET", "/", _PAGE, "none")
async def page(request: web.Request) -> web.Response:
    """Open a page for asking questions."""
    return _document(request)


@Route("GET", "/conversations/{run_id}", _PAGE, "none")
async def conversation(request: web.Request) -> web.Response:
    """Open the page of a conversation, by the run that began it."""
    check_id(request.match_info["run_id"])
    return _document(request)


@Route("GET", "/documents", _PAGE, "none")
async def documents(request: web.Request) -> web.Response:
    """Open the page of the documents."""
    return _document(request)


@Route("GET", "/runs/{run_id}", _PAGE, "none")
async def run(request: web.Request) -> web.Response:
    """Open the page of a run, with its stages."""
    check_id(request.match_info["run_id"])
    return _document(request)


@Route(
    "GET",
    "/page/{digest}/{name}",
    {200: Reply("A module or the styles of the page.", "text/javascript")},
    "none",
    problems=(404,),
    parameters=_FILE,
)
async def file(request: web.Request) -> web.Response:
    """Serve a file of the page; files of an earlier page are gone."""
    name = request.match_info["name"]
    if request.match_info["digest"] != DIGEST or name not in FILES:
        raise Problem(404, "no_such_file", "this file of the page is not there; reload the page")
    kind = TYPES[Path(name).suffix]
    return web.Response(body=FILES[name], content_type=kind, charset="utf-8", headers=HEADERS | FOR_EVER)


@Route("GET", "/favicon.ico", {204: Reply("There is no icon.")}, "none")
async def favicon(request: web.Request) -> web.Response:
    """Answer a browser's request for the page's icon."""
    return web.Response(status=204)  # answered, so that browsers log no error
