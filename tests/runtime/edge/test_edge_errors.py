"""Bad requests get problem+json with one clear sentence; a filter by every way into the edge."""

import json
from dataclasses import dataclass, field
from datetime import date

import aiohttp
import pytest
from yarl import URL

from bus.powers.searching import SearchReply
from index.filters import Filter
from tests.bus.wires import search_process
from tests.runtime.edge.conftest import Bus, Pipeline

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Bad:
    """A request, the status it must get, words that its sentence must hold, and the field that is at fault."""

    body: bytes | dict[str, object]
    status: int
    says: str
    path: str = "/v1/runs"
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))
    field: str | None = ""  # not looked at


def asking(**fields: object) -> dict[str, object]:
    return {"question": "How long?"} | fields


CASES = {
    "empty body": Bad(b"", 400, "the body is empty; send a JSON object"),
    "not JSON": Bad(b'{"question": ', 400, "not valid JSON"),
    "not UTF-8": Bad(b'{"question": "\xff\xfe"}', 400, "not UTF-8"),
    "a list": Bad(b"[1]", 422, "JSON array; send a JSON object", field=None),
    "no question": Bad({}, 422, "the question is missing", field="question"),
    "empty question": Bad({"question": ""}, 422, "the question is empty; write", field="question"),
    "blank question": Bad({"question": " \n\t "}, 422, "the question is empty; write"),
    "question of 4001": Bad({"question": "x" * 4001}, 422, "has 4001 characters; shorten it to 4000"),
    "binary question": Bad({"question": "PNG\u0000\u0001"}, 422, "control character U+0000; send plain text"),
    "lone surrogate": Bad(b'{"question": "\\ud800"}', 400, "not valid JSON"),
    "number for question": Bad({"question": 7}, 422, "question"),
    "unknown field": Bad(asking(profil="library"), 422, "profil: unknown key; did you mean 'profile'?"),
    "unknown inner field": Bad(
        asking(constraints={"maxtokens": 9}), 422, "did you mean 'max_tokens'?", field="constraints.maxtokens"
    ),
    "number for an inner text": Bad(asking(contexts=[{"content": 7}]), 422, "content", field="contexts[0].content"),
    "unknown profile": Bad(
        asking(profile="librry"), 422, "there is no profile 'librry'; did you mean 'library'?", field="profile"
    ),
    "unknown style": Bad(asking(style="synthesys"), 422, "did you mean 'synthesis'?"),
    "unknown voice": Bad(asking(voice="loud"), 422, "voice: "),
    "unknown language": Bad(asking(language="de"), 422, "language"),
    "unknown language of a filter": Bad(
        asking(filter={"language": "eng"}), 422, "filter.language: unknown value 'eng'"
    ),
    "no date in a filter": Bad(asking(filter={"after": "May"}), 422, "filter.after: expected a date like 2026-01-31"),
    "unknown field of a filter": Bad(
        asking(filter={"tags": "a"}), 422, "filter.tags: unknown key; did you mean 'tag'?"
    ),
    "a filter that is none": Bad(asking(filter="guide/**"), 422, "filter: expected an object, got a string"),
    "no date in a search": Bad(
        {"query": "a", "filter": {"after": "2026-02-30"}}, 422, "filter.after: expected a date", path="/v1/search"
    ),
    "profile with a dot": Bad(asking(profile="a.b"), 422, "profile: 'a.b' is not a valid id"),
    "profile with a newline": Bad(asking(profile="general\n"), 422, "is not a valid id"),
    "key of 256": Bad(asking(idempotency_key="k" * 256), 422, "idempotency_key: is not 1 to 255 printable"),
    "key with a newline": Bad(asking(idempotency_key="a\n"), 422, "idempotency_key: is not 1 to 255 printable"),
    "misspelt question": Bad(
        {"questoin": "How long?"}, 422, "questoin: unknown key; did you mean 'question'?", field="questoin"
    ),
    "deadline of zero": Bad(asking(deadline_s=0), 422, "deadline_s", field="deadline_s"),
    "too few tokens": Bad(asking(constraints={"max_tokens": 0}), 422, "constraints.max_tokens"),
    "constraint that is none": Bad(asking(constraints={"stop": ["a"]}), 422, "constraints.stop: unknown key"),
    "body of 65 KB": Bad(asking(language="x" * 66_000), 413, "larger than 64 KB"),
    "form": Bad(
        b"question=a",
        415,
        "send JSON as application/json",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    ),
    "no content type": Bad(b"{}", 415, "send JSON as application/json", headers={"Content-Type": ""}),
    "id with a dot": Bad(b"", 400, "'a.b' is not a valid id", path="/v1/runs/a.b", method="GET"),
    "id with a star": Bad(b"", 400, "is not a valid id", path="/v1/runs/*/events", method="GET"),
    "id with an arrow": Bad(b"", 400, "is not a valid id", path="/v1/runs/%3E/cancel"),
    "id with a slash": Bad(b"", 400, "is not a valid id", path="/v1/runs/a%2Fb", method="GET"),
    "unknown run": Bad(b"", 404, "there is no run nobody", path="/v1/runs/nobody", method="GET"),
    "unknown run's events": Bad(b"", 404, "there is no run nobody", path="/v1/runs/nobody/events", method="GET"),
    "unknown run's end": Bad(b"", 404, "there is no run nobody", path="/v1/runs/nobody/cancel"),
    "wrong event id": Bad(
        b"", 400, "is not an event id", path="/v1/runs/nobody/events", method="GET", headers={"Last-Event-ID": "-1"}
    ),
    "unknown path": Bad(b"", 404, "see /openapi.json", path="/v2/runs"),
    "wrong method": Bad(b"", 405, "/v1/runs accepts GET, HEAD, POST, not DELETE", method="DELETE"),
    "empty search": Bad({"query": " "}, 422, "the query is empty", path="/v1/search"),
    "unknown search field": Bad({"query": "a", "kk": 3}, 422, "did you mean 'k'?", path="/v1/search"),
    "socket without upgrade": Bad(b"", 426, "connect with ws://", path="/v1/ws", method="GET"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_bad_requests_name_the_problem(http: aiohttp.ClientSession, case: Bad) -> None:
    body = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode()
    async with http.request(case.method, URL(case.path, encoded=True), data=body, headers=case.headers) as response:
        problem = await response.json(content_type="application/problem+json")
        assert (response.status, problem["status"]) == (case.status, case.status), problem
        assert case.says in problem["detail"]
        assert "\n" not in problem["detail"]
        assert problem["type"] == f"urn:groundwire:problem:{problem['code']}"
        assert problem["title"]
        assert case.field in ("", problem.get("field"))
        assert response.headers.get("Allow") == ("GET, HEAD, POST" if case.status == 405 else None)


SENT = {"path": "guide/**", "tag": ["billing", "환불"], "language": "ko", "after": "2026-01-31"}
MEANT = Filter(path="guide/**", tag=("billing", "환불"), language="ko", after=date(2026, 1, 31))


async def test_with_a_run(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    async with http.post("/v1/runs", json={"question": "환불은 며칠", "filter": SENT}) as response:
        assert (await pipeline.asked(response.headers["X-Run-Id"])).filter == MEANT


async def test_with_a_chat(http: aiohttp.ClientSession, pipeline: Pipeline) -> None:
    body = {"model": "general", "messages": [{"role": "user", "content": "환불은 며칠"}]}
    async with http.post("/v1/chat/completions", json=body | {"filter": SENT}) as response:
        assert (await pipeline.asked(response.headers["X-Run-Id"])).filter == MEANT
    async with http.post("/v1/chat/completions", json=body | {"filter": {"after": "May"}}) as response:
        assert response.status == 400
        assert (await response.json())["error"]["message"] == "filter.after: expected a date like 2026-01-31"


@pytest.mark.parametrize("none_passes", [True, False])
async def test_with_a_search(http: aiohttp.ClientSession, bus: Bus, none_passes: bool) -> None:
    reply, body = SearchReply(snapshot="s1", none_passes=none_passes), {"query": "환불", "filter": SENT}
    async with search_process(bus.client, reply) as heard, http.post("/v1/search", json=body) as response:
        found = await response.json()
    assert [request.filter for request in heard] == [MEANT]
    told = "no document passes the filter (path guide/**, tag billing / 환불, language ko, after 2026-01-31)"
    assert found == {"hits": [], "snapshot": "s1"} | ({"detail": told} if none_passes else {})
