"""`groundwire prompts compare` with a model server that obeys the prompt it gets, and the page on which a person chooses."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web
from click.testing import CliRunner, Result
from playwright.async_api import Browser, expect

from index.build.ingest import bring_in
from prompts.files import source_of
from runtime.commands.prompts import prompts_group
from runtime.engines.scripted.engine import ScriptedEngine
from runtime.measure.lines import read
from runtime.measure.prompt_pairs import Line, Pair, Side, chosen_in, differences, serve, sides, sign_test
from runtime.replay.journal_traces import read_run
from runtime.replay.trace import write
from tests.browser import chromium
from tests.clients.axe import findings
from tests.polling import until
from tests.web_servers import served
from tests.whole import whole

__all__ = ["chromium"]

REFUNDS = "Refunds are paid within 14 days of the return."
QUESTION = "Within how many days of the return are refunds paid?"
BOLD = "Be bold."
ANSWERS = {True: "Refunds are paid within 99 days of the return [1].", False: f"{REFUNDS[:-1]} [1]."}
REPLIES: dict[str, dict[str, Any]] = {
    "classify_intent": {"intent": "in_scope", "confidence": "high", "category": "x", "reasoning": "", "suggested_response": ""},
    "classify_query": {"query_type": "simple", "confidence": "high", "reasoning": "", "suggested_search_term": ""},
    "select_evidence": {"spans": [{"passage": 1, "text": REFUNDS}]},
    "verify_answer": {"contradictions": []},
}  # fmt: skip


async def chat(asked: web.Request) -> web.StreamResponse:
    """Answers falsely, and takes every question for complex, where the prompt says BOLD."""
    body = await asked.json()
    bold = BOLD in body["messages"][0]["content"]
    usage = {"prompt_tokens": 9, "completion_tokens": 8 if bold else 4}
    text = ANSWERS[bold]
    if "response_format" in body:
        reply = REPLIES[body["response_format"]["json_schema"]["name"]]
        text = json.dumps({**reply, "query_type": "complex"} if bold and "query_type" in reply else reply)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(asked)
    for event in ({"delta": {"content": text}}, {"delta": {}, "finish_reason": "stop"}):
        await response.write(f"data: {json.dumps({'model': 'fake', 'choices': [event], 'usage': usage})}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


async def models(asked: web.Request) -> web.Response:
    return web.json_response({"data": [{"id": "fake"}]})


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[None]:
    monkeypatch.setenv("GROUNDWIRE_INFERENCE_ENGINE", "openai")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "150")
    async with served(web.post("/v1/chat/completions", chat), web.get("/v1/models", models)) as address:
        monkeypatch.setenv("GROUNDWIRE_INFERENCE_BASE_URL", f"{address}/v1")
        yield


@pytest.fixture(scope="module")
async def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Trace files of two runs with a model."""
    folder = tmp_path_factory.mktemp("recorded")
    async with whole(folder, ScriptedEngine(), cache_entries=0) as run:
        for n in range(2):
            _, record = await run.ask(QUESTION)
            write(folder / f"run{n}.jsonl", await read_run(run.journal, record.run_id))
    return [folder / f"run{n}.jsonl" for n in range(2)]


def bold(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        text = source_of(name).replace('{{role "system"}}', f'{{{{role "system"}}}}\n{BOLD}')
        (folder / f"{name}.prompt").write_text(text, encoding="utf-8")
    return folder


async def compare(*arguments: object) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, prompts_group, ["compare", *map(str, arguments)])


def given(runs: Sequence[Path]) -> list[object]:
    return [each for path in runs for each in ("--runs", path)]


@pytest.mark.usefixtures("model")
async def test_recorded_answers_under_both_versions(tmp_path: Path, recorded: list[Path]) -> None:
    file = bold(tmp_path / "bold", "answer_simple") / "answer_simple.prompt"
    done = await compare("built-in", file, *given(recorded), "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["answer_simple"]
    rows = {name: (row["a"], row["b"], row["difference"]["mean"]) for name, row in found["differences"].items()}
    assert rows["valid replies"] == (1, 1, 0)
    assert rows["tokens out"] == (4, 8, 4)
    assert rows["refused or closest"] == (0, 1, 1)
    assert rows["sentences verified"] == (1, 0, -1)
    assert rows["sentences withheld"] == (0, 1, 1)
    assert rows["citations"] == (1, 0, -1)
    assert found["pairs"][0]["a"]["text"] == ANSWERS[False]
    assert "14 days" in found["pairs"][0]["input"]
    shown = await compare("built-in", file, *given(recorded))
    assert ("sentences withheld" in shown.stdout, "from 5 runs on" in shown.stdout) == (True, True)


@pytest.mark.usefixtures("model")
async def test_other_agents_compare_by_field(tmp_path: Path, recorded: list[Path]) -> None:
    folder = bold(tmp_path / "bold", "classify_query", "rewrite_query")
    done = await compare("built-in", folder, *given(recorded), "--json")
    assert done.exit_code == 0, done.output
    ((name, found),) = json.loads(done.stdout).items()
    assert (name, found["fields"]["query_type"], found["fields"]["confidence"]) == ("classify_query", [2, 2], [0, 2])
    assert "refused or closest" not in found["differences"]


@pytest.mark.usefixtures("model")
async def test_questions_run_through_the_whole_pipeline(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "refunds.md").write_text(f"# Refunds\n\n{REFUNDS}\n")
    await asyncio.to_thread(bring_in, tmp_path / "index", [str(tmp_path / "pages")], only=True)
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": "1", "question": QUESTION}))
    folder = bold(tmp_path / "bold", "answer_simple")
    asked = ("--questions", tmp_path / "questions.jsonl", "--index", tmp_path / "index", "--json")
    done = await compare("built-in", folder, *asked)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["answer_simple"]
    assert [found["pairs"][0][side]["text"] == ANSWERS[False] for side in "ab"] == [True, False]
    assert found["differences"]["sentences withheld"]["difference"]["mean"] == 1
    assert found["differences"]["calls"]["a"] >= 3


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("versions", "says"),
    [
        (("built-in", "nowhere"), "nowhere: is no file NAME.prompt"),
        (("built-in", "built-in"), "A and B have the same prompts"),
        (("built-in",), "name A and B"),
        (("built-in", "odd"), "odd/answer_simpel.prompt: there is no prompt 'answer_simpel'"),
        (("built-in", "late"), "none of these runs asked rewrite_query"),
        ((), "name two versions to compare"),
    ],
)
async def test_wrong_versions_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: list[Path], versions: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bold(tmp_path / "odd", "answer_simple").joinpath("answer_simple.prompt").rename("odd/answer_simpel.prompt")
    bold(tmp_path / "late", "rewrite_query")
    done = await compare(*versions, *given(recorded))
    assert (done.exit_code, says in done.stderr.splitlines()[-1]) == (2, True), done.stderr


async def test_engine_without_a_model_is_named(tmp_path: Path, recorded: list[Path]) -> None:
    done = await compare("built-in", bold(tmp_path / "bold", "answer_simple"), *given(recorded))
    assert (done.exit_code, "extractive, which has no model" in done.stderr) == (2, True)


def side(text: str, **counts: float) -> Side:
    return Side(version="v", text=text, fields={}, counts=counts)


def pairs(count: int, a: float = 0, b: float = 1) -> list[Pair]:
    return [Pair(id=f"p{n}", question="?", a=side(f"a{n}", x=a), b=side(f"b{n}", x=b)) for n in range(count)]


def test_choices_without_pairs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"id": "1"}\n', "utf-8")
    result = CliRunner().invoke(prompts_group, ["compare", "--choices", str(tmp_path / "other.jsonl")])
    assert (result.exit_code, "has no pairs" in result.output) == (1, True)


def test_difference_is_of_the_pairs() -> None:
    row = differences([*pairs(10), *pairs(10, a=1, b=0), *pairs(20)])["x"]
    assert (row.a, row.b, row.difference.mean) == (0.25, 0.75, 0.5)
    assert 0.2 < row.difference.low < 0.5 < row.difference.high < 0.8


@pytest.mark.parametrize(
    ("first", "second", "p"), [(0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (9, 1, 0.021484375), (1, 9, 0.021484375)]
)
def test_sign_test_is_the_exact_binomial(first: int, second: int, p: float) -> None:
    assert sign_test(first, second) == pytest.approx(p)


async def page_of(path: Path) -> tuple[asyncio.Task[None], str]:
    said: list[str] = []
    task = asyncio.create_task(serve(path, read(path, Line), said.append))
    await until(lambda: said)
    return task, said[0]


async def test_page_takes_keys_and_shows_text_as_text(tmp_path: Path, chromium: Browser) -> None:
    path, hostile = tmp_path / "choices.jsonl", "<img src=x onerror=alert(1)>"
    of = [
        Pair(id=str(n), question=f"{n} {hostile}", input=hostile, a=side(f"a{hostile}"), b=side("b")) for n in range(3)
    ]
    path.write_bytes(b"".join(msgspec.json.encode(Line(pair=pair)) + b"\n" for pair in of))
    task, address = await page_of(path)
    page = await chromium.new_page()
    errors: list[object] = []
    page.on("pageerror", lambda error: errors.append(error.message))
    page.on("console", lambda message: errors.append(message.text))
    await page.goto(address)
    for n, key in enumerate(("ArrowLeft", "2")):
        await expect(page.get_by_role("heading", level=1)).to_have_text(f"{n} {hostile}")
        await expect(page.get_by_role("heading", level=1)).to_be_focused()
        assert {await page.inner_text("#left"), await page.inner_text("#right")} == {f"a{hostile}", "b"}
        await page.keyboard.press(key)
    await page.get_by_text("What the model was asked").click()
    assert await findings(page) == []
    await page.get_by_role("button", name="Back").click()
    await expect(page.get_by_role("status")).to_have_text("2 of 3 chosen")
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"1 {hostile}")
    await page.keyboard.press("3")
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"2 {hostile}")
    await page.get_by_role("button", name="Both bad").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you.")
    await asyncio.wait_for(task, 10)
    await page.close()
    left, _ = sides(of[0])
    assert (chosen_in(read(path, Line)), errors) == ({left: 1, "equal": 1, "both bad": 1}, [])


async def test_choices_are_stored_blind_and_resumed(tmp_path: Path) -> None:
    path, of = tmp_path / "choices.jsonl", pairs(12)
    path.write_bytes(b"".join(msgspec.json.encode(Line(pair=pair)) + b"\n" for pair in of))
    assert {sides(pair) for pair in of} == {("a", "b"), ("b", "a")}
    first, address = await page_of(path)
    async with aiohttp.ClientSession() as http:

        async def turn(**sent: str) -> dict[str, Any]:
            async with http.post(f"{address}turn", json=sent) as response:
                assert response.status == 200
                return dict(await response.json())

        async with http.get(address) as response:
            text = await response.text()
        assert ("default-src 'none'" in text, "innerHTML" in text, "aria-keyshortcuts" in text) == (True, False, True)
        shown = await turn()
        assert set(shown) == {"done", "of", "pair", "question", "input", "left", "right"}
        better = "left" if shown["left"].startswith("b") else "right"
        assert (await turn(pair=shown["pair"], choice=better))["done"] == 1
        assert chosen_in(read(path, Line)) == {"b": 1}  # on the disk before the next pair is shown
        await turn(pair="p0", choice="equal")
        for sent in ('{"pair":"p99","choice":"left"}', '{"pair":"p0","choice":"worse"}', "[]"):
            async with http.post(f"{address}turn", data=sent) as response:
                assert response.status == 400
        async with http.post(address.rsplit("/", 2)[0] + "/turn", json={}) as response:
            assert response.status == 404
    first.cancel()
    again, address = await page_of(path)
    async with aiohttp.ClientSession() as http:
        for n in range(1, 12):
            async with http.post(f"{address}turn", json={"pair": f"p{n}", "choice": "both bad"}) as response:
                assert (await response.json())["done"] == n + 1
    await asyncio.wait_for(again, 10)
    done = await compare("--choices", path)
    assert done.stdout == "A better 0 times, B 0 times, 1 equal, 11 both bad; sign test p = 1.000\n"
