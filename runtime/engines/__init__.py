"""Engines: what answers a prompt, a folder each, behind the Protocol in `engine.py`.

A new engine is its folder, with `make(settings, wiring)` in its `engine.py`, and its name here: the setting, the command line and
the routes of profiles read the names from this module.
"""

from typing import Literal, get_args

#: The folder of each engine.
EngineName = Literal["extractive", "mlx", "openai", "scripted"]

ENGINES: tuple[EngineName, ...] = get_args(EngineName)
