"""A new engine is its folder and its name in `runtime/engines/__init__.py`; forgetting either is a failing test."""

import importlib
from pathlib import Path
from typing import get_type_hints

import click
import pytest

from runtime.commands.replay import replay_command
from runtime.engines import ENGINES, EngineName
from runtime.engines.choice import make_engine
from runtime.engines.engine import Engine, Wiring
from runtime.settings import InferenceSettings

FOLDER = Path(importlib.import_module("runtime.engines").__path__[0])


def test_every_engine_folder_is_in_the_table() -> None:
    assert sorted(ENGINES) == sorted(path.parent.name for path in FOLDER.glob("*/engine.py"))


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_is_made_from_settings(name: EngineName) -> None:
    made = make_engine(InferenceSettings(engine=name))
    assert made.name == name
    hints = get_type_hints(importlib.import_module(f"runtime.engines.{name}.engine").make)
    assert hints == {"settings": InferenceSettings, "wiring": Wiring, "return": type(made)}
    members = {*vars(Engine), *Engine.__annotations__}
    assert [each for each in members if not each.startswith("_") and not hasattr(made, each)] == []


def test_settings_and_command_line_use_the_table() -> None:
    assert get_type_hints(InferenceSettings)["engine"] == EngineName
    choice = next(option.type for option in replay_command.params if option.name == "engine")
    assert isinstance(choice, click.Choice)
    assert choice.choices == ("recorded", *ENGINES)
