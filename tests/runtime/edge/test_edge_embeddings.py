"""The index's own embedder for OpenAI clients, over a real index."""

import asyncio
import base64
import io
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
import numpy as np
import openai
import pytest

from bus.powers.embedding import TEXTS, VectorsReply, VectorsRequest, serve_index_vectors
from index.model import Document, Metadata
from index.search.searcher import Searcher
from runtime.processes.search import Threads
from tests.index.conftest import update
from tests.runtime.edge.conftest import Bus

REFUNDS = "Refunds are paid within 14 days of the return."
OPENING = "The shop opens at nine on weekdays and closes at six."


@pytest.fixture(scope="module")
async def searcher(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Searcher]:
    folder = tmp_path_factory.mktemp("embedded") / "index"
    seen = [Document(source_id=f"{n}.md", title=text[:8], text=text) for n, text in enumerate((REFUNDS, OPENING))]
    hidden = Document(source_id="b.md", title="Board", text="The board meets.", metadata=Metadata(groups=("board",)))
    await asyncio.to_thread(update, folder, [*seen, hidden])
    made = await asyncio.to_thread(Searcher.open, folder)
    yield made
    made.close()


@pytest.fixture
async def served(bus: Bus, searcher: Searcher) -> AsyncIterator[Threads]:
    threads = Threads(lambda: searcher, 2)
    close = await serve_index_vectors(bus.client, threads.embed)
    await bus.client.flush()
    yield threads
    await close()
    await asyncio.to_thread(threads.close)


@pytest.fixture
async def client(edge: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{edge}/v1", api_key="none", max_retries=0) as made:
        yield made


async def test_the_vectors_are_the_indexs_own(client: openai.AsyncOpenAI, served: Threads, searcher: Searcher) -> None:
    texts = [REFUNDS, OPENING, "When are refunds paid?"] * (TEXTS // 2)  # more than one request holds
    as_numbers = await client.embeddings.create(model="lsa", input=texts, encoding_format="float")
    as_base64 = await client.embeddings.create(model="lsa", input=texts)  # what the client asks for by itself
    found = np.array([each.embedding for each in as_numbers.data], dtype=np.float32)
    _, rows = await asyncio.to_thread(searcher.embed, texts)
    assert np.array_equal(found, rows)
    assert np.array_equal(found, np.array([each.embedding for each in as_base64.data], dtype=np.float32))
    assert [each.index for each in as_numbers.data] == list(range(len(texts)))
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    assert found[2] @ found[0] > found[2] @ found[1]
    assert (as_numbers.model, as_numbers.object) == ("lsa", "list")
    assert as_numbers.usage.total_tokens == as_numbers.usage.prompt_tokens > 0


async def test_optional_client_fields_may_be_null(http: aiohttp.ClientSession, served: Threads) -> None:
    """litellm and others send a null for what their caller did not say."""
    asked = {"model": "lsa", "input": "When are refunds paid?"}
    nulls = dict.fromkeys(("encoding_format", "dimensions", "input_type", "user"))
    found = []
    for more in ({}, nulls, {"encoding_format": "float", "input_type": "passage"}):
        async with http.post("/v1/embeddings", json=asked | more) as response:
            found.append(await response.json())
            assert response.status == 200, found
    assert found[0] == found[1] == found[2]


async def test_a_single_text_and_a_query(http: aiohttp.ClientSession, served: Threads, searcher: Searcher) -> None:
    asked = {"model": "lsa", "input": "When are refunds paid?", "encoding_format": "base64", "user": "ann"}
    for side in ("passage", "query"):
        async with http.post("/v1/embeddings", json=asked | {"input_type": side}) as response:
            [each] = (await response.json())["data"]
        found = np.frombuffer(base64.b64decode(each["embedding"]), dtype="<f4")
        _, rows = await asyncio.to_thread(searcher.embed, [asked["input"]], query=side == "query")
        assert rows is not None
        assert np.array_equal(found, rows[0])


@pytest.mark.parametrize("text", ["x" * 1500, "\x01" * 1500, "\U0001f600" * 40_000, "a"])
async def test_largest_client_request_fits(http: aiohttp.ClientSession, bus: Bus, text: str) -> None:
    """LangChain a thousand texts, LlamaIndex long ones; characters that JSON writes with six bytes."""
    asked: list[int] = []

    async def embed(request: VectorsRequest) -> VectorsReply:
        asked.append(len(request.texts))
        rows = (np.zeros(4, dtype="<f4").tobytes(),) * len(request.texts)
        return VectorsReply(embedder="lsa", version="s1", dimension=4, rows=rows)

    close = await serve_index_vectors(bus.client, embed)
    await bus.client.flush()
    texts = [text] * min(1000, 1_900_000 // (len(msgspec.json.encode(text)) + 1))
    body = io.BytesIO(msgspec.json.encode({"model": "lsa", "input": texts}))
    async with http.post("/v1/embeddings", data=body, headers={"Content-Type": "application/json"}) as response:
        found = await response.json()
    await close()
    assert response.status == 200, found
    assert [each["index"] for each in found["data"]] == list(range(len(texts)))
    assert sum(asked) == len(texts)
    assert max(asked) <= TEXTS


@pytest.mark.parametrize(
    ("wrong", "status", "param", "says"),
    [
        ({"model": "text-embedding-3-small"}, 404, "model", "the index's is 'lsa'"),
        ({"dimensions": 0}, 400, "dimensions", "leave it out"),
        ({"input": [1, 2, 3]}, 400, "input", "check_embedding_ctx_length=False"),
        ({"input": [[1, 2], [3]]}, 400, "input", "token numbers"),
        ({"input": ""}, 400, "input", "is empty"),
        ({"input": ["a", " "]}, 400, "input[1]", "is empty"),
        ({"input": ["a", "x" * 300_000]}, 400, "input[1]", "more than 256 KB; split it"),
        ({"input": []}, 400, "input", ""),
        ({"input": ["a"] * 2049}, 400, "input", "2048"),
        ({"encoding_format": "int8"}, 400, "encoding_format", ""),
        ({"input_type": "search_query"}, 400, "input_type", ""),
    ],
)
async def test_what_cannot_be_embedded(
    http: aiohttp.ClientSession, served: Threads, wrong: dict[str, Any], status: int, param: str, says: str
) -> None:
    async with http.post("/v1/embeddings", json={"model": "lsa", "input": "a"} | wrong) as response:
        error = (await response.json())["error"]
    assert (response.status, error["param"]) == (status, param)
    assert says in error["message"]


async def test_the_right_dimensions_are_no_mistake(client: openai.AsyncOpenAI, served: Threads) -> None:
    first = await client.embeddings.create(model="lsa", input="refunds")
    count = len(first.data[0].embedding)
    assert await client.embeddings.create(model="lsa", input="refunds", dimensions=count) == first
    with pytest.raises(openai.BadRequestError, match=f"the index's vectors have {count}; send that"):
        await client.embeddings.create(model="lsa", input="refunds", dimensions=count + 1)


async def test_restricted_key_gets_no_vectors(bus: Bus, http: aiohttp.ClientSession, served: Threads) -> None:
    made = [await served.embed(VectorsRequest(texts=("a",), groups=groups)) for groups in ((), ("board",), None)]
    assert [(each.withheld, len(each.rows)) for each in made] == [(True, 0), (False, 1), (False, 1)]


async def test_forbidden_is_403_and_absent_is_503(bus: Bus, http: aiohttp.ClientSession) -> None:
    async def withhold(request: VectorsRequest) -> VectorsReply:
        assert request.groups is None  # the open door
        return VectorsReply(embedder="lsa", version="s1", dimension=4, withheld=True)

    asked = {"model": "lsa", "input": "a"}
    close = await serve_index_vectors(bus.client, withhold)
    await bus.client.flush()
    async with http.post("/v1/embeddings", json=asked) as response:
        error = (await response.json())["error"]
        assert (response.status, error["type"]) == (403, "permission_error")
        assert "does not see every document" in error["message"]
    await close()
    await bus.client.flush()
    async with http.post("/v1/embeddings", json=asked) as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "2")
        assert "no search process answers" in (await response.json())["error"]["message"]


async def test_other_requests_proceed_during_many_texts(bus: Bus, http: aiohttp.ClientSession) -> None:
    """No step of the loop takes more than a small part of what the whole answer does."""
    row = np.random.default_rng(7).standard_normal(1536).astype("<f4").tobytes()

    async def embed(request: VectorsRequest) -> VectorsReply:
        return VectorsReply(embedder="lsa", version="s1", dimension=1536, rows=(row,) * len(request.texts))

    steps = [0.0]

    async def beat() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            steps.append(time.thread_time() - before)

    close = await serve_index_vectors(bus.client, embed)
    await bus.client.flush()
    beating = asyncio.create_task(beat())
    began = time.thread_time()
    async with http.post("/v1/embeddings", json={"model": "lsa", "input": ["a"] * 1024}) as response:
        assert response.status == 200
        took, longest = time.thread_time() - began, max(steps)
        beating.cancel()
        assert len((await response.json())["data"]) == 1024
    await close()
    assert longest < took / 4
