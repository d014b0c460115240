"""Choose the engine that answers a prompt: the process's own, or the one that a profile names for that prompt.

A profile's `[agents.NAME] model` is `ENGINE:MODEL` (`openai:MODEL` is served at `inference.base_url`), `ENGINE` alone, such as
`extractive`, or a model's plain name for an own engine that serves several. Other engines are started when they are first asked.
"""

import asyncio
from collections.abc import Callable

from bus.wire.errors import Unavailable
from index.plugins import installed
from runtime.engines.engine import Engine, Wiring
from runtime.settings import InferenceSettings


class Routes:
    """The process's own engine and those that profiles name for some prompts; `make` gives one by name, not yet started."""

    def __init__(self, own: Engine, make: Callable[[str], Engine]) -> None:
        self.own = own
        self._make = make
        self._others: dict[str, Engine] = {}
        self._starting = asyncio.Lock()

    async def find(self, model: str) -> tuple[Engine, str]:
        """The engine, and the model's name as it knows it (empty for its own). Raises Unavailable."""
        name, _, rest = model.partition(":")
        if name in installed("engines") and name != self.own.name:
            return await self._other(name), rest
        wanted = rest if name in installed("engines") else model
        if wanted and self.own.owns_device and wanted != self.own.model:
            raise Unavailable(
                f"the device holds one model, and a profile asks for {wanted}; serve that one behind an OpenAI-compatible "
                f"server, set inference.base_url, and write openai:{wanted}"
            )
        return self.own, wanted

    async def close(self) -> None:
        for engine in self._others.values():
            await engine.close()

    async def _other(self, name: str) -> Engine:
        async with self._starting:
            if name not in self._others:
                engine = self._make(name)
                if engine.owns_device:
                    raise Unavailable(
                        f"a profile asks for {name}, which needs the device for itself; set inference.engine to {name}"
                    )
                await engine.start()
                self._others[name] = engine
        return self._others[name]


def make_engine(settings: InferenceSettings, wiring: Wiring | None = None) -> Engine:
    """The engine, not started yet."""
    engine: Engine = installed("engines")[settings.engine].load()(settings, wiring or Wiring())
    return engine
