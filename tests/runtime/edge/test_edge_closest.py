"""The closest passages in every form that the edge speaks, and how sure an answer must be, asked in each of them."""

import json
import re
from typing import Any

import aiohttp
import msgspec
import openai
import pytest
from groundwire.wire import CitedPlace, Reference
from markdown_it import MarkdownIt

from bus.runs.run_record import RunRecord
from index.source_paths import source_path
from runtime.edge.cited import cited, each_markdown, markdown, opened_references
from tests.runtime.edge.conftest import NEAR
from tests.runtime.edge.strict_sse import parse

PASSAGES = {"type": "passages", "items": msgspec.to_builtins(NEAR), "status": "end"}
TOLD = "Nothing is sure:"


#: Markdown as GitHub has it, but for addresses as links.
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def json_of(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))


async def stream_of(http: aiohttp.ClientSession, **fields: object) -> tuple[str, list[tuple[int, dict[str, Any]]]]:
    async with http.post("/v1/runs", json={"question": "near enough?"} | fields) as response:
        events = [(number, json.loads(data)) for number, data in parse(await response.read())]
        return response.headers["X-Run-Id"], events


@pytest.mark.parametrize("wanted", ["default", "all"])
async def test_passages_follow_the_tokens_without_references(http: aiohttp.ClientSession, wanted: str) -> None:
    _, events = await stream_of(http, events=wanted)
    told = [event for _, event in events]
    assert "".join(event["content"] for event in told[:-3]) == TOLD
    assert told[-3:] == [{"type": "token", "content": "", "status": "end"}, json_of(PASSAGES), {"type": "DONE"}]


async def test_json_answer_and_record_have_the_passages(http: aiohttp.ClientSession) -> None:
    async with http.post(
        "/v1/runs", json={"question": "near enough?"}, headers={"Accept": "application/json"}
    ) as response:
        assert response.status == 200
        record = msgspec.json.decode(await response.read(), type=RunRecord)
    assert (record.outcome, record.reason, record.answer, record.probability) == ("closest", "no_evidence", TOLD, 0.25)
    passages = tuple(NEAR)  # in another language than the question: all its words are missing
    assert (record.passages, record.references, record.citations) == (passages, (), ())
    async with http.get(f"/v1/runs/{record.run_id}") as response:
        assert (await response.json())["passages"] == json_of(passages)


# ---------------------------------------------------------------- chat


async def complete(edge: str, *, stream: bool, **fields: object) -> tuple[str, dict[str, Any], str]:
    """The content, the fields that are ours, and the id of the run."""
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as client:
        answer: Any = await client.chat.completions.create(
            model="general", messages=[{"role": "user", "content": "near enough?"}], stream=stream, extra_body=fields
        )
        if not stream:
            return answer.choices[0].message.content, answer.model_extra, answer.id.removeprefix("chatcmpl-")
        chunks = [chunk async for chunk in answer]
    content = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason == "stop"
    return content, chunks[-1].model_extra, chunks[-1].id.removeprefix("chatcmpl-")


@pytest.mark.parametrize("stream", [False, True])
async def test_chat_has_passages_as_text_and_data(edge: str, stream: bool) -> None:
    content, extra, _ = await complete(edge, stream=stream)
    assert content == TOLD + markdown(NEAR)
    assert extra["passages"] == json_of(NEAR)
    assert extra["references"] == []
    assert extra.get("outcome", "closest") == "closest"


@pytest.mark.parametrize("stream", [False, True])
async def test_passages_beyond_max_tokens_are_not_quoted(edge: str, stream: bool) -> None:
    first = TOLD + markdown(NEAR[:1])
    for most, said, why in ((1000, TOLD + markdown(NEAR), "stop"), (len(first.split()), first, "length")):
        async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as client:
            answer: Any = await client.chat.completions.create(
                model="general",
                messages=[{"role": "user", "content": "near enough?"}],
                max_tokens=most,
                **({"stream": True, "stream_options": {"include_usage": True}} if stream else {}),
            )
            if stream:
                *chunks, counted = [chunk async for chunk in answer]
                content = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
                last, usage, annotations = chunks[-1], counted.usage, chunks[-1].choices[0].delta.annotations
            else:
                last, usage, content = answer, answer.usage, answer.choices[0].message.content
                annotations = answer.choices[0].message.annotations
            response = await client.responses.create(model="general", input="near enough?", max_output_tokens=most)
        assert (content, last.choices[0].finish_reason) == (said, why)
        assert len(annotations) == (2 if why == "stop" else 1)
        assert last.model_extra["passages"] == json_of(NEAR)
        assert usage.completion_tokens == len(said.split()) <= most
        assert response.output_text == said
        assert response.status == ("completed" if why == "stop" else "incomplete")


def test_markdown_quotes_passages_without_their_markup() -> None:
    shown = MARKDOWN.render(TOLD + markdown(NEAR))
    assert shown == (
        "<p>Nothing is sure:</p>\n"
        '<p><strong>1. <a href="https://example.org/refunds#terms">환불 &lt;규정&gt;</a></strong> Shop › Refunds, p. 3</p>\n'
        "<blockquote>\n<p>👩🎓 <strong>환불</strong>은 14일<br />\n"
        "# [x](https://evil.example) &lt;b&gt;<strong>환불</strong>&lt;/b&gt; `a`</p>\n</blockquote>\n"
        "<p><strong>2. file.txt</strong></p>\n"
        "<blockquote>\n<p><strong>تُدفع</strong> المبالغ خلال 14 يومًا</p>\n</blockquote>\n"
    )
    assert markdown(()) == ""
    (old,) = each_markdown([msgspec.structs.replace(NEAR[1], outdated="New *rules*")])
    assert old.startswith("**1. ~~file.txt~~ → New \\*rules\\***\n")


@pytest.mark.parametrize(
    "text",
    [
        *("1. one", "1) one", "- one", "+ one", "* one", "# one", "    one", "> one", "one\n---", "one\n===", "one\n\n    two"),
        *("a | b\n|--|--|\nc | d", "~~one~~", "_one_", "**one**", "```\none\n```", "![a](https://x.example/y.png)"),
        *("<img src=x>", "<https://x.example>", "&lt;", "a\\b", "[a]: https://x.example", "[a][b]"),
    ],
)  # fmt: skip
def test_any_document_text_stays_text(text: str) -> None:
    shown = msgspec.structs.replace(NEAR[1], text=text, marked=())
    page = MARKDOWN.render(markdown([shown]).split("\n\n", 2)[2])
    inside = page.removeprefix("<blockquote>\n").removesuffix("</blockquote>\n")
    bare = inside.replace("<p>", "").replace("</p>", "").replace("<br />", "")
    assert "<" not in bare
    assert "".join(bare.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&").split()) == "".join(
        text.split()
    )


@pytest.mark.parametrize(
    "name",
    [
        *("[x](https://evil.example)", "![x](https://evil.example/y.png)", "a](<javascript:alert(1)>)", "**a** `b` <b>", "# a"),
        *("a\n\n# b", "a\r# b", "a\u2028# b", "\u202eexe.md", "\x1b[2J", "https://evil.example", "www.evil.example"),
    ],
)  # fmt: skip
def test_title_and_path_stay_text(name: str) -> None:
    """Also in one line, so that nothing of it gets out of the heading."""
    plain = msgspec.structs.replace(NEAR[0], text="text", marked=(), page=None)
    for shown in (
        msgspec.structs.replace(plain, title=name),
        msgspec.structs.replace(plain, title="", source_id=name, url="javascript:alert(1)"),
        msgspec.structs.replace(plain, headings=(name,)),
    ):
        head, rest = MARKDOWN.render(markdown([shown])).split("\n", 1)
        assert rest == "<blockquote>\n<p>text</p>\n</blockquote>\n"
        ours = re.compile(f'</?(?:p|strong)>|<a href="{re.escape(NEAR[0].url)}">|</a>')
        assert "<" not in ours.sub("", head)
        assert not set(head) & set("\r\x1b\u2028\u202e")


@pytest.mark.parametrize("text", ["a\r# b", "a\u2028\u2029# b", "a\x85# b", "a\x1b[2J\x9b"])
def test_line_breaks_stay_inside_the_quotation(text: str) -> None:
    shown = msgspec.structs.replace(NEAR[1], text=text, marked=())
    quoted = markdown([shown]).split("\n\n", 2)[2]
    assert len(quoted.splitlines()) == 1
    assert "\x1b" not in quoted


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://a.example/\x1b[2J", "https://a.example/> [x](b", "data:text/html,x"]
)
def test_non_web_address_is_not_a_link(url: str) -> None:
    assert "<a" not in MARKDOWN.render(markdown([msgspec.structs.replace(NEAR[0], url=url)]))


# ---------------------------------------------------------------- how sure an answer must be


def test_citation_opens_the_sentence_whatever_address_was_sent() -> None:
    text = "The shop is red. Refunds take 14 days."
    url = source_path("shop.md", 0, len(text))
    place = CitedPlace(n=1, url=url, page=None, source_start=0, source_end=len(text), cited_text=text)
    sent = Reference(source_id="shop.md", title="Shop", url=url, score=1.0, n=(1,), cited=(place,))
    base = "http://localhost:8080"
    for references in ((sent,), opened_references((sent,), base)):
        (found,) = cited("Refunds take 14 days [1].", references, base)
        assert found.url == base + source_path("shop.md", 17, len(text))
