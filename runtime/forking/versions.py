"""Two versions of a prompt over recorded runs: the stage that asked it runs again, once under each version."""

import contextlib
import dataclasses
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from actors.pipeline import pipeline
from actors.question.profile import PROFILES
from bus.runs.story import RunStory
from prompts.contracts import PROMPTS
from prompts.library import Library, problems_in
from runtime.forking.fork import fork
from runtime.forking.live_powers import Live, replies_of
from runtime.replay.trace import PARENT, Trace

#: The version without any prompt of the owner's.
BUILT_IN = "built-in"


class BadVersion(ValueError):
    """A version that cannot be compared; the message names it and the remedy."""


@contextlib.contextmanager
def laid_out(version: str, profiles: str) -> Iterator[Path]:
    """A folder with the owner's profiles and the prompts of this version alone. Raises BadVersion.

    `version`: `built-in`, a folder of prompts, or a file NAME.prompt, which brings the parts beside it.
    """
    given = Path(version)
    files = {given, *given.parent.glob("_*.prompt")} if given.is_file() else set(given.glob("*.prompt"))
    if not files and version != BUILT_IN:
        raise BadVersion(f"{version}: is no file NAME.prompt, no folder with such files and not `{BUILT_IN}`")
    with tempfile.TemporaryDirectory(prefix="groundwire-") as made:
        for path in (*(files if version != BUILT_IN else ()), *(Path(profiles).glob("*.toml") if profiles else ())):
            shutil.copy(path, made)
        if problem := next(problems_in((Path(made),)), ""):
            raise BadVersion(problem.replace(made, str(given.parent if given.is_file() else given)))
        yield Path(made)


def changed(a: Path, b: Path) -> list[str]:
    """The prompts that differ between two folders. Raises BadVersion when none does."""
    first, second = Library(folders=(a,)), Library(folders=(b,))
    found = [prompt.name for prompt in PROMPTS if first.version(prompt.name) != second.version(prompt.name)]
    if not found:
        raise BadVersion("A and B have the same prompts; `groundwire prompts diff` shows what a folder changes")
    return found


async def under(folder: Path, trace: Trace, prompt: str, live: Live) -> RunStory | None:
    """The run with the first stage that asked the prompt run again under the prompts of a folder; None if none asked it.

    All other prompts get their recorded replies. An answer goes on to its end, since gate and verifier are part of its result.
    """
    stages = (stage for record in trace.records if (stage := record.stage))
    at = next((stage.actor for stage in stages if any(ask.prompt == prompt for ask in stage.asks)), None)
    if at is None:
        return None
    PROFILES.use(str(folder))
    replies = {key: reply for key, reply in replies_of(trace).items() if key[0] != prompt}
    live = dataclasses.replace(live, replies=replies, hits=trace.story.searches)
    alone = not prompt.startswith("answer_")
    story = (await fork(trace, pipeline(), at, secrets.token_hex(12), live, alone=alone)).story
    return dataclasses.replace(story, stages=tuple(s for s in story.stages if PARENT not in s.record.headers))
