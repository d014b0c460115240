"""Real servers behind `/v1/embeddings`, from a build to a question in another language."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from click.testing import CliRunner

from index.embedders.embedder import INSTRUCTION, OpenAIEmbedder
from index.errors import IndexProblem
from runtime.commands.index import index_group
from runtime.commands.search import search_command
from tests.web_servers import served_beside

#: A tiny bilingual model: each row is one direction, named in Korean and English.
_SENSES = (("환불", "refund"), ("헬멧", "helmet"), ("도서관", "library"), ("시험", "exam"))


def embed(text: str) -> list[float]:
    text = text.removeprefix(INSTRUCTION).lower()
    return [1e-3 + sum(text.count(word) for word in words) for words in _SENSES]


#: The texts of the last request.
EMBEDDED: list[str] = []


async def embeddings(request: web.Request) -> web.Response:
    asked = await request.json()
    EMBEDDED[:] = asked["input"]
    if asked["model"] == "missing":
        return web.Response(status=404)
    cut = 3 if asked["model"] == "shrinking" and asked["input"] != ["dimension"] else 4
    data = [{"index": n, "embedding": embed(text)[:cut]} for n, text in enumerate(asked["input"])]
    return web.json_response({"data": data[::-1]})


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with served_beside(web.post("/v1/embeddings", embeddings)) as address:
        yield f"{address}/v1"


def test_question_matches_passages_in_another_language(server: str, tmp_path: Path) -> None:
    folder, index = tmp_path / "documents", str(tmp_path / "index")
    folder.mkdir()
    (folder / "helmets.md").write_text("Every visitor shall wear a helmet in the foundry.")
    (folder / "refunds.md").write_text("A refund is paid within three days of the inspection.")
    runner, flags = CliRunner(), ["--embed-url", server, "--embed-model", "tiny"]
    built = runner.invoke(index_group, ["build", str(folder), "--index", index, *flags])
    assert built.exit_code == 0, built.output
    found = runner.invoke(search_command, ["--index", index, "--json", "-k", "1", *flags, "환불은 언제 받나요?"])
    hit = json.loads(found.output)
    assert (hit["source_id"], hit["vector_rank"]) == ("refunds.md", 1)
    refused = runner.invoke(search_command, ["--index", index, "환불"])
    assert refused.exit_code == 1
    assert "built with embedder openai tiny" in refused.output
    other = runner.invoke(search_command, ["--index", index, "--embed-url", server, "--embed-model", "other", "환불"])
    assert "not with openai other" in other.output
    again = runner.invoke(index_group, ["add", str(folder), "--index", index])
    assert again.exit_code == 1
    assert "build the index again" in again.output


@pytest.mark.parametrize(
    ("url", "model", "says"),
    [
        (None, "missing", "answered 404"),
        ("http://127.0.0.1:9/v1", "tiny", "ConnectError.; is it up"),
        ("ftp://example.org", "tiny", "not an http address"),
    ],
)
def test_silent_server_is_one_error(server: str, url: str | None, model: str, says: str) -> None:
    with pytest.raises(IndexProblem, match=says):
        OpenAIEmbedder(url or server, model)


def test_a_model_that_changed_is_refused(server: str) -> None:
    embedder = OpenAIEmbedder(server, "shrinking")
    with pytest.raises(IndexProblem, match="has changed"):
        embedder.embed(["a", "b"], query=False)


@pytest.mark.parametrize(
    ("model", "instruction", "before"),
    [
        ("tiny", "", ""),
        ("Qwen/Qwen3-Embedding-0.6B", "", INSTRUCTION),
        ("Qwen/Qwen3-Embedding-0.6B", "Find: ", "Find: "),
    ],
)
def test_question_gets_the_model_instruction(server: str, model: str, instruction: str, before: str) -> None:
    embedder = OpenAIEmbedder(server, model, instruction=instruction)
    embedder.embed(["helmet"], query=True)
    assert [f"{before}helmet"] == EMBEDDED
    embedder.embed(["helmet"], query=False)
    assert EMBEDDED == ["helmet"]
