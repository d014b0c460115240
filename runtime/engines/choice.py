"""Make the engine that the settings name; each is imported only when needed."""

import importlib

from runtime.engines.engine import Engine, Wiring
from runtime.settings import InferenceSettings


def make_engine(settings: InferenceSettings, wiring: Wiring | None = None) -> Engine:
    """The engine, not started yet."""
    module = importlib.import_module(f"runtime.engines.{settings.engine}.engine")
    engine: Engine = module.make(settings, wiring or Wiring())
    return engine
