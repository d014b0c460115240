"""The openai engine against a server that misbehaves in every way, and against mlx-lm's own; its schemas."""

import asyncio
import json

import msgspec
import pytest
from aiohttp import web

from bus.wire.errors import BadReply, ContentRefused, ContentStopped, NoReply, OverQuota, Rejected, TooLong, Unavailable
from prompts.library import Library
from runtime.engines.limits import misfit
from runtime.engines.openai.engine import OpenAIEngine, Repeated
from runtime.engines.openai.wire import backoff_s, retry_after_s
from runtime.processes.ports import free_port
from tests.bench.device.server import MlxLmServer
from tests.runtime.engines.fake_server import says, sends, streams
from tests.runtime.engines.sample import collect, render, request, shape

YES = shape(ok={"type": "boolean"})


async def test_text_streams(engine, fake):
    fake.answers = [streams("Refunds ", "take ", "", "14 days.")]
    deltas, finished = await collect(engine, request(rendered=render("Q", max_tokens=50), seed=3))
    assert deltas == ["Refunds ", "take ", "14 days."]
    assert finished.text == "Refunds take 14 days."
    assert (finished.engine, finished.model, finished.finish_reason) == ("openai", "fake-1", "stop")
    assert (finished.tokens_in, finished.tokens_in_cached, finished.tokens_out) == (9, 5, 4)
    (body,) = fake.bodies
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (50, 0.0, 3)
    assert "response_format" not in body


async def test_reasoning_effort_is_passed_through(fake):
    engine = OpenAIEngine(fake.url, "deep")
    await engine.start()
    fake.answers = [streams("ok")]
    await collect(engine, request(rendered=msgspec.structs.replace(render("Q"), reasoning_effort="high")))
    await collect(engine, request(rendered=render("Q")))
    await engine.close()
    first, second = fake.bodies
    assert first["reasoning_effort"] == "high"
    assert "reasoning_effort" not in second


async def test_schema_is_sent_and_the_reply_checked(engine, fake):
    fake.answers = [streams("```json\n", '{"ok":', "true}", "\n```")]
    deltas, finished = await collect(engine, request(rendered=render(schema=YES)))
    assert deltas == [finished.text] == ['{"ok":true}']
    assert fake.bodies[0]["response_format"]["json_schema"]["schema"] == YES


SUB = {"id": "sq_1", "statement": "A fee is due", "focus": "fee"}
NEGATION = {
    "type": "direct_negation",
    "severity": "critical",
    "claim": "a",
    "evidence_ref": "[1]",
    "explanation": "b" * 45,
}
WHOLE = {
    "answer": "Yes [1].",
    "used_citations": [1],
    "confidence": "high",
    "refused": False,
    "refuse_reason": "",
    "sub_queries": [SUB],
    "reasoning": "",
    "contradictions": [],
}


@pytest.mark.parametrize("first", ["Sure! It is ok.", '{"ok": "yes"}', "{}"])
async def test_reply_outside_the_schema_is_retried_once(engine, fake, first):
    fake.answers = [streams(first), streams('{"ok": false}')]
    _, finished = await collect(engine, request(rendered=render(schema=YES)))
    assert finished.text == '{"ok": false}'
    assert first in fake.bodies[1]["messages"][-2]["content"]
    assert json.dumps(YES) in fake.bodies[1]["messages"][-1]["content"]
    assert (finished.calls, len(fake.bodies)) == (2, 2)
    fake.answers, fake.bodies = [streams(first)], []
    with pytest.raises(BadReply, match="ignores response_format") as failed:
        await collect(engine, request(rendered=render(schema=YES)))
    assert (failed.value.calls, len(fake.bodies)) == (2, 2)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('{"ok": true,}', '{"ok": true}'),
        ('{"ok": ["a,]", "b\\",}",],\n}', '{"ok": ["a,]", "b\\",}"]\n}'),
    ],
)
async def test_comma_before_the_end_needs_no_second_call(engine, fake, said, text):
    fake.answers = [streams(said)]
    _, finished = await collect(engine, request(rendered=render(schema=shape(ok={}))))
    assert (finished.text, finished.calls) == (text, 1)


@pytest.mark.parametrize(
    ("prompt", "given", "kept", "cut"),
    [
        ("answer_synthesis", {"answer": "Yes [1]. " * 50}, {"answer": ("Yes [1]. " * 44).strip()}, "$.answer"),
        ("answer_synthesis", {"refuse_reason": None}, {"refuse_reason": ""}, ""),
        ("answer_synthesis", {"refuse_reason": "a" * 150}, {"refuse_reason": "a" * 120}, "$.refuse_reason"),
        ("answer_synthesis", {"used_citations": None, "more": 1}, {"used_citations": []}, ""),
        ("decompose_query", {"sub_queries": [SUB] * 7}, {"sub_queries": [SUB] * 5}, "$.sub_queries"),
        ("verify_answer", {"contradictions": [NEGATION]}, {"contradictions": [NEGATION | {"explanation": "b" * 30}]},
         "$.contradictions[0].explanation"),
    ],
)  # fmt: skip
async def test_reply_is_cut_to_its_limits(engine, fake, prompt, given, kept, cut):
    schema = Library().file(prompt).schema
    whole = {name: WHOLE[name] for name in schema["required"]}
    fake.answers = [streams(json.dumps(whole | given))]
    _, finished = await collect(engine, request(rendered=render(schema=schema)))
    assert json.loads(finished.text) == whole | kept
    assert (finished.cut, finished.calls) == (cut, 1)


@pytest.mark.parametrize(
    "pieces", [["The fee ", "is 4."], ["Rep", "eat. The fee ", "is 4."], ["Repeat. The fee is 4."]]
)
async def test_what_was_shown_is_not_repeated(engine, fake, pieces):
    fake.answers = [streams(*pieces)]
    deltas, finished = await collect(engine, request(rendered=render(), already_shown="Repeat. "))
    assert "".join(deltas) == "The fee is 4."
    assert finished.text == "Repeat. The fee is 4."


def test_repeated_beginning_of_the_shown_text_is_kept():
    skip = Repeated("Repeat.")
    assert [skip.add("Re"), skip.add("fund"), skip.rest()] == ["", "Refund", ""]
    short = Repeated("Repeat.")
    assert [short.add("Rep"), short.rest()] == ["", "Rep"]


@pytest.mark.parametrize("busy", [says(429, "{}", **{"Retry-After": "0"}), says(503, "x", **{"Retry-After": "0.01"})])
async def test_busy_server_is_asked_again(engine, fake, busy):
    fake.answers = [busy, busy, streams("ok")]
    assert (await collect(engine, request(rendered=render())))[1].text == "ok"
    assert len(fake.bodies) == 3


@pytest.mark.parametrize(
    ("answer", "failure", "message"),
    [
        (
            says(200, "<html><h1>Welcome</h1></html>", content_type="text/html"),
            Unavailable,
            "not as an API; check inference.base_url",
        ),
        (says(200, "{}"), Unavailable, "not as an API"),
        (
            says(401, '{"error":{"message":"bad key"}}'),
            Rejected,
            r"refuses the key \(401 Unauthorized\); set inference.api_key",
        ),
        (says(404, '{"error":"no model x"}'), Rejected, "no such model or path"),
        (says(400, '{"error":{"message":"bad role"}}'), Rejected, r"refuses the request \(400 Bad Request\)"),
        (says(400, '{"error":{"code":"context_length_exceeded"}}'), TooLong, "finds prompt or reply too long"),
        (says(402, "{}"), OverQuota, "answers 402 Payment Required; .* raise the quota"),
        (says(429, "{}", **{"Retry-After": "3600"}), OverQuota, "answers 429"),
        (says(500, "<html>oops", **{"Retry-After": "0"}), Unavailable, "answers 500"),
        (streams(reason="content_filter"), ContentRefused, "refuses the content"),
        (streams("half an", reason="content_filter"), ContentStopped, "refuses the content"),
        (streams("half an ans", end=False), Unavailable, "closed|broke the connection"),
    ],
)
async def test_each_misbehaviour_is_a_typed_failure(engine, fake, answer, failure, message):
    fake.answers = [answer]
    began = asyncio.get_running_loop().time()
    with pytest.raises(failure, match=message) as failed:
        await collect(engine, request(rendered=render(), seconds=120))
    assert "\n" not in str(failed.value)
    assert asyncio.get_running_loop().time() - began < 60


async def test_error_in_mid_stream(engine, fake):
    fake.answers = [sends('data: {"error": {"message": "out of memory"}}\n\n')]
    with pytest.raises(Unavailable, match="failed during the answer"):
        await collect(engine, request(rendered=render()))


@pytest.mark.parametrize("end", ["\r", "\r\n"])
async def test_streams_of_other_makes(engine, fake, end):
    """Other line ends, an event over several lines and longer than a read buffer, no empty line at the end."""
    long = "word " * 60_000
    event = {"choices": [{"delta": {"content": long}, "finish_reason": "stop"}]}
    data = json.dumps(event, indent=1).replace("\n", f"{end}data: ")
    fake.answers = [sends(f"data: {data}{end}{end}data: [DONE]")]
    _, finished = await collect(engine, request(rendered=render()))
    assert finished.text == long


@pytest.mark.parametrize("before", [True, False])
async def test_silent_server_ends_at_the_deadline(engine, fake, before):
    async def answer(asked):
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        if not before:
            await response.prepare(asked)
            await response.write(b": alive\n\n")
        await fake.release.wait()
        return response

    fake.answers = [answer]
    with pytest.raises(NoReply, match="deadline"):
        await collect(engine, request(rendered=render(), seconds=0.2))


async def test_start_error_names_the_cause():
    engine = OpenAIEngine(f"http://127.0.0.1:{free_port()}/v1", attempts=1)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await engine.start()


def test_pauses():
    assert [retry_after_s(h) for h in (None, "", "7", "-3", "soon")] == [None, None, 7.0, 0.0, None]
    assert retry_after_s("Thu, 01 Jan 1970 00:01:00 GMT", now=50) == 10.0
    assert all(0.5 <= backoff_s(n) / min(8.0, 0.25 * 2**n) <= 1.0 for n in range(12))


@pytest.fixture(scope="module")
def server(tiny):
    """mlx-lm's own server with the tiny model."""
    with MlxLmServer(str(tiny)) as made:
        yield made.url


async def test_a_real_server(server, tiny):
    engine = OpenAIEngine(server, str(tiny))
    await engine.start()
    try:
        asked = render(temperature=1.0, max_tokens=20)
        deltas, finished = await collect(engine, request(rendered=asked, seed=1))
        assert "".join(deltas) == finished.text
        assert 0 < finished.tokens_out <= 20 < finished.tokens_in
        with pytest.raises(TooLong, match="raise max_tokens"):
            await collect(engine, request(rendered=render(schema=YES, temperature=1.0)))
    finally:
        await engine.close()


NOTE = shape(
    n={"type": "integer", "minimum": 0, "maximum": 9},
    tags={"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
    text={"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 3}]},
)
GOOD = {"n": 3, "tags": ["a"], "text": None}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, ""),
        ({"text": "abc"}, ""),
        ({"n": 10}, "$.n: 10 is greater than the maximum of 9"),
        ({"n": -1}, "$.n: -1 is less than the minimum of 0"),
        ({"n": True}, "$.n: True is not of type 'integer'"),
        ({"n": "3"}, "$.n: '3' is not of type 'integer'"),
        ({"n": 2.5}, "$.n: 2.5 is not of type 'integer'"),
        ({"tags": []}, "$.tags: [] should be non-empty"),
        ({"tags": ["a", "b", "a"]}, "$.tags: ['a', 'b', 'a'] is too long"),
        ({"tags": ["c"]}, "$.tags[0]: 'c' is not one of ['a', 'b']"),
        ({"tags": "a"}, "$.tags: 'a' is not of type 'array'"),
        ({"text": "abcd"}, "$.text: 'abcd' is too long"),
        ({"more": 1}, "$: Additional properties are not allowed ('more' was unexpected)"),
    ],
)
def test_problem_is_named_with_its_path(change, wrong):
    assert misfit(GOOD | change, NOTE) == wrong


def test_missing_property_and_wrong_type():
    assert misfit({"n": 1, "tags": ["a"]}, NOTE) == "$: 'text' is a required property"
    assert misfit([], NOTE) == "$: [] is not of type 'object'"


def test_long_reply_gives_a_short_line():
    told = misfit(GOOD | {"text": "a\n" * 500}, NOTE)
    assert len(told) < 250
    assert "\n" not in told
