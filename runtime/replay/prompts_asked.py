"""What a step asked the model: its prompts, filled with the variables of then by the prompt files of today.

The journal keeps a digest of the variables; the step is run again over its recorded input and replies, and asks them anew.
"""

import contextlib
import functools
import math
from collections.abc import AsyncIterator

import msgspec

from actors.question.resolved import resolving_under
from bus.delivery.execution import Services, execute
from bus.journal.records import AskRecord, Stage
from bus.powers.asking import AskRequest
from prompts.contracts import PROMPTS
from prompts.files import Rendered
from prompts.library import Library
from runtime.replay.recorded_powers import EventMemory, Replies, digests
from runtime.replay.steps import Step
from runtime.replay.trace import Trace

_VARIABLES = {prompt.name: prompt for prompt in PROMPTS}


@functools.cache
def _library() -> Library:
    return Library()


class _Heard(Replies):
    """Answers from the record, and keeps what it was asked."""

    def __init__(self, stage: Stage | None) -> None:
        super().__init__(stage)
        self.requests: list[AskRequest] = []

    async def answer(self, request: AskRequest) -> AsyncIterator[str | AskRecord]:
        self.requests.append(request)
        async for part in super().answer(request):
            yield part


async def requests_of(trace: Trace, step: Step) -> list[AskRequest]:
    """What a step asked, with its variables; what today's code no longer asks is missing."""
    heard = _Heard(step.stage)
    services = Services(heard.answer, heard.find, EventMemory([]))
    with contextlib.suppress(Exception), resolving_under(trace.defaults):
        # Whatever today's code makes of an old record, and breaks on: what it asked before that is known.
        messages = tuple(record.message for record in step.given)
        taken = messages if step.actor.joins else messages[0]
        await execute(step.actor, taken, step.source.key, services, deadline=math.inf, attempt=1, retries=0)
    return heard.requests


async def prompts_asked(trace: Trace, step: Step) -> dict[tuple[str, str], Rendered]:
    """The prompts of a step by name and digest of the variables; what today's code no longer asks is missing."""
    found: dict[tuple[str, str], Rendered] = {}
    for request in await requests_of(trace, step):
        variables = msgspec.json.decode(request.variables, type=_VARIABLES[request.prompt])
        rendered = _library().render(variables)
        found |= {(request.prompt, key): rendered for key in digests(request.prompt, bytes(request.variables))}
    return found
