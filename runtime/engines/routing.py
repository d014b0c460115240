"""Choose the engine that answers a prompt: the process's own, or the one that a profile names for that prompt.

A profile's `[agents.NAME] model` is `openai:MODEL` (behind `inference.base_url`), `extractive` (rules, no model), or a model's
plain name if the process's own engine serves several. Other engines start when they are first needed.
"""

import asyncio
from collections.abc import Callable

from bus.errors import Unavailable
from runtime.engines.engine import Engine

PREFIX = "openai:"


class Routes:
    """The process's own engine and those that profiles name for some prompts; `make` gives one by name, not yet started."""

    def __init__(self, own: Engine, make: Callable[[str], Engine]) -> None:
        self.own = own
        self._make = make
        self._others: dict[str, Engine] = {}
        self._starting = asyncio.Lock()

    async def find(self, model: str) -> tuple[Engine, str]:
        """The engine, and the name it knows the model by (empty for its own). Raises Unavailable."""
        if model.startswith(PREFIX):
            return await self._other("openai"), model.removeprefix(PREFIX)
        if model == "extractive":
            return await self._other("extractive"), ""
        if model and self.own.name == "mlx" and model != self.own.model:
            raise Unavailable(
                f"the device holds one model, and a profile asks for {model}; serve that one behind an OpenAI-compatible "
                f"server, set inference.base_url, and write {PREFIX}{model}"
            )
        return self.own, model

    async def close(self) -> None:
        for engine in self._others.values():
            await engine.close()

    async def _other(self, name: str) -> Engine:
        if self.own.name == name:
            return self.own
        async with self._starting:
            if name not in self._others:
                engine = self._make(name)
                await engine.start()
                self._others[name] = engine
        return self._others[name]
