"""A new engine is its folder and its entry point; a missing entry point is a failing test."""

import importlib
from pathlib import Path
from typing import get_type_hints

import click
import pytest

from index.plugins import installed
from runtime.commands.replay import replay_command
from runtime.engines.choice import make_engine
from runtime.engines.engine import Engine, Wiring
from runtime.settings import InferenceSettings, SettingsError, load

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
