"""A response belongs to the key that asked for it; for other keys it does not exist, by any name."""

import aiohttp
import pytest

from tests.faults.door import World, bus, bus_settings, http, pipeline, runs, world

__all__ = ["bus", "bus_settings", "http", "pipeline", "runs", "world"]  # fixtures


@pytest.fixture
async def anns(world: World, http: aiohttp.ClientSession) -> str:
    """The id of a response of ann's."""
    body = {"model": "general", "input": "How much is the secret bonus?"}
    async with http.post(f"{world.locked}/v1/responses", json=body, headers=world.bearer("ann")) as response:
        assert response.status == 200, await response.text()
        return str((await response.json())["id"])


NAMED = [
    ("GET", ""),
    ("GET", "?stream=true"),
    ("POST", "/cancel"),
    ("DELETE", ""),
]


@pytest.mark.parametrize("who", ["eve", "root", "reader", "searcher", "gone", ""])
@pytest.mark.parametrize(("method", "path"), NAMED)
async def test_a_response_is_its_askers(
    world: World, http: aiohttp.ClientSession, anns: str, method: str, path: str, who: str
) -> None:
    url = f"{world.second}/v1/responses/{anns}{path}"
    async with http.request(method, url, headers=world.bearer(who)) as response:
        said = await response.text()
        allowed = {"root": (200,), "eve": (404,), "reader": (403, 404), "searcher": (403,), "gone": (401,), "": (401,)}
        assert response.status in allowed[who], said
        assert who == "root" or "bonus" not in said
    if who != "root":
        async with http.get(f"{world.locked}/v1/responses/{anns}", headers=world.bearer("ann")) as response:
            assert (await response.json())["status"] == "completed"


async def test_foreign_conversation_cannot_be_continued(world: World, http: aiohttp.ClientSession, anns: str) -> None:
    message = anns.replace("resp_", "msg_")
    bodies = (
        {"previous_response_id": anns, "input": "And then?"},
        {"input": [{"type": "item_reference", "id": message}, {"role": "user", "content": "And then?"}]},
    )
    for body in bodies:
        async with http.post(
            f"{world.locked}/v1/responses", json=body | {"model": "general"}, headers=world.bearer("eve")
        ) as response:
            said = await response.text()
            assert response.status == 400
            assert "there is no" in said
            assert "bonus" not in said
        async with http.post(
            f"{world.locked}/v1/responses", json=body | {"model": "general"}, headers=world.bearer("ann")
        ) as response:
            assert response.status == 200


async def test_ordinary_run_is_not_a_response(world: World, http: aiohttp.ClientSession) -> None:
    for run_id in world.runs.values():
        async with http.get(f"{world.locked}/v1/responses/resp_{run_id}", headers=world.bearer("root")) as response:
            assert response.status == 404
