"""Render a prompt's variables under a profile; one library per profile, since profiles override sampling and models."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from actors.question.profile import PROFILES, profile_of
from bus.wire.messages import same_fields
from prompts.contracts import PROMPTS, Prompt
from prompts.files import Rendered, is_remembered, source_of

if TYPE_CHECKING:
    from prompts.library import Library


class Renderer:
    """Renders variables to text; templates are compiled once per profile."""

    def __init__(self) -> None:
        self._libraries: dict[str, Library] = {}
        self._remembered = functools.cache(lambda prompt: is_remembered(source_of(prompt, own_folders())))

    def render(self, variables: Prompt[object], profile: str) -> Rendered:
        return self._library(profile).render(variables)

    def model(self, prompt: str, profile: str) -> str:
        """The model that the profile names for this prompt; empty for none."""
        agents = profile_of(profile or "general").agents.items()
        return next((override.model or "" for agent, override in agents if agent == prompt), "")

    def version(self, prompt: str, profile: str) -> str:
        """The version of the prompt under that profile."""
        return self._library(profile).version(prompt)

    def remembered(self, prompt: str) -> bool:
        """Whether the prompt declares that its replies are cached."""
        return self._remembered(prompt)

    def constants(self) -> tuple[Rendered, ...]:
        """Every prompt's constant part, which a device can prefill before the first question."""
        files = map(self._library("general").file, (prompt.name for prompt in PROMPTS))
        return tuple(Rendered(**same_fields(file, Rendered), user="") for file in files)

    def _library(self, profile: str) -> "Library":
        from prompts.library import Library  # an engine without a model renders nothing

        name = profile or "general"
        if name not in self._libraries:
            read = profile_of(name)
            agents = {str(agent): override for agent, override in read.agents.items()}
            self._libraries[name] = Library(agents, own_folders(name), read.role)
        return self._libraries[name]


def own_folders(profile: str = "") -> tuple[Path, ...]:
    """The folders with the owner's prompts: that of the profile, which bears its name, and the folder of all profiles."""
    folder = PROFILES.folder
    own = () if folder is None else (folder / profile, folder) if profile else (folder,)
    return (*PROFILES.prompts, *own)
