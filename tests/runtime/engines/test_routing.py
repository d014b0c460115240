"""A profile may send an agent to a different engine from the process's own."""

import pytest

from bus.wire.errors import Unavailable
from runtime.engines.routing import Routes
from runtime.engines.scripted.engine import ScriptedEngine


class Counted(ScriptedEngine):
    started = closed = 0

    async def start(self) -> None:
        self.started += 1

    async def close(self) -> None:
        self.closed += 1


def routes(name: str = "mlx", model: str = "small") -> tuple[Routes, dict[str, Counted]]:
    own = Counted(model=model)
    own.name, own.owns_device = name, name == "mlx"  # type: ignore[misc]
    made: dict[str, Counted] = {}

    def make(other: str) -> Counted:
        made[other] = Counted(model=other)
        return made[other]

    return Routes(own, make), made


async def test_no_model_is_the_own_engine() -> None:
    found, made = routes()
    assert await found.find("") == (found.own, "")
    assert await found.find("small") == (found.own, "small")
    assert made == {}


async def test_another_engine_is_started_once_and_closed() -> None:
    found, made = routes()
    first = await found.find("openai:reasoner")
    second = await found.find("openai:other")
    assert first == (made["openai"], "reasoner")
    assert second == (made["openai"], "other")
    assert await found.find("extractive") == (made["extractive"], "")
    await found.close()
    assert [(e.started, e.closed) for e in made.values()] == [(1, 1), (1, 1)]


async def test_own_server_serves_any_name() -> None:
    found, made = routes("openai")
    assert await found.find("openai:reasoner") == (found.own, "reasoner")
    assert await found.find("reasoner") == (found.own, "reasoner")
    assert made == {}


async def test_a_device_holds_one_model() -> None:
    found, _ = routes()
    with pytest.raises(Unavailable, match="openai:big"):
        await found.find("big")


async def test_device_engine_replaces_no_other() -> None:
    big = Counted(model="big")
    big.owns_device = True
    found = Routes(Counted(), lambda name: big)
    with pytest.raises(Unavailable, match=r"set inference\.engine to mlx"):
        await found.find("mlx")
    assert big.started == 0
