"""Which profiles a request may name: found once, looked up again when somebody names a new one."""

import asyncio
from pathlib import Path

from prompts.profiles import ProfileError, load, names


class Profiles:
    """The profiles that this edge has seen to be usable. A file added while it runs is found when it is first named."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._usable: set[str] = set()

    async def check(self, name: str) -> None:
        """Raises ProfileError when there is no such profile, or its file is wrong."""
        if name not in self._usable:
            await asyncio.to_thread(load, name, self.folder)
            self._usable.add(name)

    async def names(self) -> tuple[str, ...]:
        return await asyncio.to_thread(names, self.folder)


__all__ = ["ProfileError", "Profiles"]
