"""Render a prompt's variables under a profile; one library per profile, since profiles override sampling and models.

`Routes` chooses the engine that answers a prompt: the process's own, or the one that a profile names for that prompt.
"""

import asyncio
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from actors.question.profile import PROFILES, profile_of
from bus.wire.errors import Unavailable
from bus.wire.messages import same_fields
from index.plugins import installed
from prompts.contracts import PROMPTS, Prompt
from prompts.files import Rendered, is_remembered, source_of
from runtime.engines.engine import Engine, Wiring
from runtime.settings import InferenceSettings

if TYPE_CHECKING:
    from prompts.library import Library


class Renderer:
    """Renders variables to text; templates are compiled once per profile."""

    def __init__(self) -> None:
        self._libraries: dict[str, Library] = {}
        #: Whether replies to the prompt of a name are remembered.
        self.remembered = functools.cache(lambda prompt: is_remembered(source_of(prompt, own_folders())))

    def render(self, variables: Prompt[object], profile: str) -> Rendered:
        return self.library(profile).render(variables)

    def constants(self) -> tuple[Rendered, ...]:
        """Every prompt's constant part, which a device can prefill before the first question."""
        files = map(self.library("general").file, (prompt.name for prompt in PROMPTS))
        return tuple(Rendered(**same_fields(file, Rendered), user="") for file in files)

    def library(self, profile: str) -> "Library":
        from prompts.library import Library  # an engine without a model renders nothing

        name = profile or "general"
        if name not in self._libraries:
            read = profile_of(name)
            agents = {str(agent): override for agent, override in read.agents.items()}
            self._libraries[name] = Library(agents, own_folders(name), read.role)
        return self._libraries[name]


def model_for(prompt: str, profile: str) -> str:
    """The model that the profile names for a prompt; empty for none."""
    agents = profile_of(profile or "general").agents.items()
    return next((override.model or "" for agent, override in agents if agent == prompt), "")


def own_folders(profile: str = "") -> tuple[Path, ...]:
    """The folders with the owner's prompts: that of the profile, which bears its name, and the folder of all profiles."""
    folder = PROFILES.folder
    own = () if folder is None else (folder / profile, folder) if profile else (folder,)
    return (*PROFILES.prompts, *own)


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
    engine: Engine = installed("engines")[settings.engine].load()(settings, wiring or Wiring())
    return engine
