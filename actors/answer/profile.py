"""The profile a question runs under, read once per process; GROUNDWIRE_PROFILES names a folder with a user's own."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bus.errors import Poison
from index import languages
from prompts import profiles
from prompts.profiles import Profile, ProfileError


def folder() -> Path | None:
    """Where a user keeps profiles of their own."""
    place = os.environ.get("GROUNDWIRE_PROFILES")
    return Path(place) if place else None


@cache
def profile_of(name: str) -> Profile:
    """The profile. Raises Poison: a question under a profile that is not there cannot be answered."""
    try:
        return profiles.load(name, folder())
    except ProfileError as error:
        raise Poison(str(error).replace("\n", " ")) from None


def in_language[L: str](texts: Mapping[L, str], language: str) -> str:
    """The text for that language, empty when the profile has none."""
    return next((text for key, text in texts.items() if key == language), "")


def preload() -> tuple[str, ...]:
    """Read every profile and the words of every language, so that no actor touches the disk.

    Raises Poison for a profile that is wrong.
    """
    languages.check()
    names = profiles.names(folder())
    for name in names:
        profile_of(name)
    return names
