"""The openai engine behind LiteLLM's own proxy, which passes its requests to a scripted server.

The proxy takes 440 MB and half a minute to start, so it is installed and asked only when GROUNDWIRE_LITELLM is set.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bus.wire.errors import ContentRefused, Failure, OverQuota, Rejected, TooLong
from runtime.engines.openai.engine import OpenAIEngine
from runtime.processes.ports import free_port
from tests.clients.installed import python_of
from tests.polling import until
from tests.runtime.engines.fake_server import Answer, Fake, says, serving, streams
from tests.runtime.engines.sample import collect, render, request, shape

OK = shape(ok={"type": "boolean"})
START_S = 240.0


@pytest.fixture(scope="module")
async def proxy(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[str, Fake]]:
    """The proxy's address, and the server behind it."""
    if not os.environ.get("GROUNDWIRE_LITELLM"):
        pytest.skip("LiteLLM's proxy takes 440 MB; set GROUNDWIRE_LITELLM=1 to install and ask it")
    folder, port = tmp_path_factory.mktemp("litellm"), free_port()
    async with serving() as fake:
        settings = folder / "settings.json"
        models = {"plain": "openai/fake-1", "thinker": "openai/o3-mini"}
        listed = [
            {"model_name": name, "litellm_params": {"model": model, "api_base": fake.url, "api_key": "none"}}
            for name, model in models.items()
        ]
        quick = {"num_retries": 0, "disable_cooldowns": True}
        settings.write_text(json.dumps({"model_list": listed, "router_settings": quick}))
        bin_folder = Path(python_of("litellm-proxy")).parent
        process = await asyncio.create_subprocess_exec(
            *(bin_folder / "litellm", "--config", settings, "--host", "127.0.0.1", "--port", str(port)),
            env={
                "PATH": f"{bin_folder}:{os.environ['PATH']}",
                "HOME": str(folder),
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}/v1"

        async def up() -> bool:
            try:
                async with aiohttp.ClientSession() as session, session.get(f"{url}/models") as response:
                    return response.status == 200
            except aiohttp.ClientError:
                return False

        try:
            await until(up, within_s=START_S, what="LiteLLM's proxy")
            yield url, fake
        finally:
            process.kill()
            await process.wait()


async def ask(
    proxy: tuple[str, Fake], *answers: Answer, model: str = "plain", schema: dict[str, object] | None = None
) -> str:
    url, fake = proxy
    fake.answers, fake.bodies = list(answers), []
    engine = OpenAIEngine(url, model, attempts=1)
    await engine.start()
    try:
        _, finished = await collect(engine, request(rendered=render(schema=schema)))
    finally:
        await engine.close()
    assert (finished.tokens_in, finished.tokens_out) == (9, 4)
    return finished.text


async def test_prose_and_json(proxy: tuple[str, Fake]) -> None:
    assert await ask(proxy, streams("Refunds ", "take 14 days.")) == "Refunds take 14 days."
    assert await ask(proxy, streams('{"ok":', "true}"), schema=OK) == '{"ok":true}'
    assert proxy[1].bodies[0]["response_format"]["json_schema"]["schema"] == OK


async def test_its_own_refusal_is_learned(proxy: tuple[str, Fake]) -> None:
    """It refuses the temperature for a reasoning model, before it asks the server behind it."""
    assert await ask(proxy, streams("14 days."), model="thinker") == "14 days."
    (body,) = proxy[1].bodies
    assert "temperature" not in body
    assert body["max_completion_tokens"] == 16


@pytest.mark.parametrize(
    ("answer", "failure", "message"),
    [
        (says(400, '{"error":{"message":"The maximum context length is 4096."}}'), TooLong, "too long"),
        (says(429, '{"error":{"message":"slow down"}}'), OverQuota, "raise the quota"),
        (streams("", reason="content_filter"), ContentRefused, "refuses the content"),
    ],
)
async def test_errors_of_the_server_behind(
    proxy: tuple[str, Fake], answer: Answer, failure: type[Failure], message: str
) -> None:
    with pytest.raises(failure, match=message):
        await ask(proxy, answer)


async def test_unknown_model_names_the_others(proxy: tuple[str, Fake]) -> None:
    with pytest.raises(Rejected, match=r"it lists plain, thinker; set inference\.model"):
        await ask(proxy, streams("never"), model="none")
