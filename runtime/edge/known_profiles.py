"""The profiles a request may name; each is loaded once, when it is first named."""

from pathlib import Path

from anyio import to_thread

from prompts.profiles import Profile, ProfileError, load, names


class KnownProfiles:
    """The profiles found usable so far; one added while the edge runs is found when it is first named."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._usable: dict[str, Profile] = {}

    async def check(self, name: str) -> None:
        """Raises ProfileError when there is no such profile, or its file is wrong."""
        if name not in self._usable:
            self._usable[name] = await to_thread.run_sync(load, name, self.folder)

    async def masks(self, name: str) -> bool:
        """Whether this profile masks personal data; a profile that is gone does."""
        try:
            await self.check(name)
        except ProfileError:
            return True
        return self._usable[name].mask_personal_data

    def is_own(self, name: str) -> bool:
        """Whether the profile is one of `folder`."""
        return self.folder is not None and (self.folder / f"{name}.toml").is_file()

    async def names(self) -> tuple[str, ...]:
        return await to_thread.run_sync(names, self.folder)
