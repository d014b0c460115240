"""The input of the two parts of a build, and the progress they report."""

from collections.abc import Callable

import msgspec

#: tell(task, done, total)
Tell = Callable[[str, int, int], None]


def no_progress(task: str, done: int, total: int) -> None:
    """Reports nothing."""


class Job(msgspec.Struct, kw_only=True):
    """Paths are absolute. `parent` is "" for a first build. `removed` are (first, count) ranges of passages.

    `new` are the segments with passages that the parent does not have. With `built_in` their vectors are computed in the job;
    otherwise they are in vectors/new.npy, in that order.
    """

    building: str
    parent: str
    removed: list[tuple[int, int]]
    new: list[str]
    languages: dict[str, list[int]]  # language -> passages removed
    built_in: bool


class Progress(msgspec.Struct, frozen=True):
    """`done` of `total` passages of `task`; `results` come with the last line of the vector process."""

    task: str
    done: int = 0
    total: int = 0
    results: dict[str, float] = {}
    error: str = ""
