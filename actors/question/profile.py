"""The profile a question runs under, read once per process.

At start, a process calls `PROFILES.use` with the folder of the user's own profiles.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from actors.choosing.weights import weights
from bus.wire.requests import no_such_profile
from index import languages
from index.masking import mask
from prompts import profiles
from prompts.profiles import Profile, ProfileError


class Profiles:
    """The profiles of a process, each read on first use and kept."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        #: Folders with prompts that precede all others.
        self.prompts: tuple[Path, ...] = ()
        self._read: dict[str, Profile] = {}

    def use(self, folder: str) -> None:
        """From now on, profiles in `folder` take precedence over the built-in ones; empty for the built-in ones alone."""
        self.folder = Path(folder) if folder else None
        self._read.clear()

    def get(self, name: str) -> Profile:
        """The profile of that name. Raises Invalid: a question under a profile that does not exist cannot be answered."""
        if name not in self._read:
            try:
                self._read[name] = profiles.load(name, self.folder)
            except ProfileError as error:
                raise no_such_profile(error) from None
        return self._read[name]

    def change(self, name: str, keys: Mapping[str, object]) -> None:
        """Set dotted keys of a profile until `use` is called. Raises Invalid, or msgspec.ValidationError for a key or value."""
        raw = msgspec.to_builtins(self.get(name))
        for key, value in keys.items():
            *tables, last = key.split(".")
            table = raw
            for part in tables:
                table = table.setdefault(part, {})
                if not isinstance(table, dict):
                    raise msgspec.ValidationError(f"`{part}` has no keys, so there is no `{key}`")
            table[last] = value
        self._read[name] = msgspec.convert(raw, Profile)


PROFILES = Profiles()
profile_of = PROFILES.get


def in_language[L: str](texts: Mapping[L, str], language: str) -> str:
    """The text in that language; empty when the profile has none."""
    return next((text for key, text in texts.items() if key == language), "")


def preload() -> tuple[str, ...]:
    """Read every profile, the learned weights and what masking needs, so that no actor touches the disk.

    Raises Poison for an invalid profile.
    """
    languages.check()
    weights()
    mask("1")  # loads its libraries
    names = profiles.names(PROFILES.folder)
    for name in names:
        profile_of(name)
    return names
