"""The choice of an engine: by its entry point, by a profile for one agent; and the scripted engine."""

import importlib
from pathlib import Path
from typing import get_type_hints

import click
import msgspec
import pytest

from bus.wire.errors import NoReply, Unavailable
from index.plugins import installed
from runtime.commands.replay import replay_command
from runtime.engines.engine import Engine, Wiring
from runtime.engines.rendering import Routes, make_engine
from runtime.engines.scripted.engine import ScriptedEngine
from runtime.settings import InferenceSettings, SettingsError, load
from tests.prompts.samples import SAMPLES
from tests.runtime.engines.sample import PLAIN, collect, request


class Counted(ScriptedEngine):
    started = closed = 0

    async def start(self) -> None:
        self.started += 1

    async def close(self) -> None:
        self.closed += 1


def routes(name: str = "mlx", model: str = "small") -> tuple[Routes, dict[str, Counted]]:
    own = Counted()
    own.name, own.model, own.owns_device = name, model, name == "mlx"  # type: ignore[misc]
    made: dict[str, Counted] = {}

    def make(other: str) -> Counted:
        made[other] = Counted()
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
    big = Counted()
    big.owns_device = True
    found = Routes(Counted(), lambda name: big)
    with pytest.raises(Unavailable, match=r"set inference\.engine to mlx"):
        await found.find("mlx")
    assert big.started == 0


FOLDER = Path(importlib.import_module("runtime.engines").__path__[0])


def test_every_folder_has_an_entry_point() -> None:
    assert list(installed("engines")) == sorted(path.parent.name for path in FOLDER.glob("*/engine.py"))


@pytest.mark.parametrize("name", installed("engines"))
def test_every_engine_is_made_from_settings(name: str) -> None:
    made = make_engine(InferenceSettings(engine=name))
    assert made.name == name
    hints = get_type_hints(importlib.import_module(f"runtime.engines.{name}.engine").make)
    assert hints == {"settings": InferenceSettings, "wiring": Wiring, "return": type(made)}
    members = {*vars(Engine), *Engine.__annotations__}
    assert [each for each in members if not each.startswith("_") and not hasattr(made, each)] == []


def test_unknown_engine_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"no engine is called 'extractiv'; did you mean 'extractive'\?"):
        load(environ={"GROUNDWIRE_INFERENCE_ENGINE": "extractiv"})


def test_replay_offers_the_installed_engines() -> None:
    choice = next(option.type for option in replay_command.params if option.name == "engine")
    assert isinstance(choice, click.Choice)
    assert choice.choices == ("recorded", *installed("engines"))


@pytest.mark.parametrize("variables", SAMPLES, ids=lambda v: v.name)
async def test_default_script_answers_in_the_contract(variables):
    deltas, finished = await collect(ScriptedEngine(), request(variables))
    assert "".join(deltas) == finished.text
    if variables.reply_type() is not str:
        msgspec.json.decode(finished.text, type=variables.reply_type())


async def test_default_answer_has_sixty_tokens_and_a_citation():
    deltas, finished = await collect(ScriptedEngine(), request(PLAIN))
    assert len(deltas) == finished.tokens_out == 60
    assert finished.text.endswith("[1].")


@pytest.mark.parametrize(
    ("shown", "fresh"), [("", ["my ", "pieces"]), ("my ", ["pieces"]), ("my pi", ["eces"]), ("my pieces", [])]
)
async def test_what_was_shown_is_not_repeated(shown, fresh):
    engine = ScriptedEngine(lambda asked: ["my ", "pieces"])
    deltas, finished = await collect(engine, request(already_shown=shown))
    assert deltas == fresh
    assert finished.text == "my pieces"


async def test_one_prompt_can_be_overridden():
    engine = ScriptedEngine({"answer_simple": "no"})
    assert (await collect(engine, request(PLAIN)))[1].text == "no"
    assert (await collect(engine, request(SAMPLES[8])))[1].text != "no"


async def test_script_may_fail_and_deadlines_hold():
    def down(asked):
        raise Unavailable("the script is down; raise it")

    with pytest.raises(Unavailable):
        await collect(ScriptedEngine(down), request())
    with pytest.raises(NoReply):
        await collect(ScriptedEngine(), request(seconds=-1))
