"""Make the engine that the settings name; each is imported only when needed."""

from index.plugins import installed
from runtime.engines.engine import Engine, Wiring
from runtime.settings import InferenceSettings


def make_engine(settings: InferenceSettings, wiring: Wiring | None = None) -> Engine:
    """The engine, not started yet."""
    engine: Engine = installed("engines")[settings.engine].load()(settings, wiring or Wiring())
    return engine
