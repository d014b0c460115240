"""What a run depended on and is another today: prompts, models, settings. A replay takes all three from the record."""

from collections.abc import Iterator

from actors.question.resolved import RULES, Defaults, resolved, resolving_under
from bus.journal.records import AskRecord
from bus.runs.story import RunStory
from bus.wire.messages import Question
from index.plugins import installed
from runtime.engines.rendering import Renderer
from runtime.forking.live_powers import engine_of, version_of
from runtime.replay.replayer import Changed
from runtime.replay.trace import Trace
from runtime.settings import InferenceSettings

PROMPT = "prompt "
_SETTINGS = ("voice", "numeric_promote", "masked", "has_model")


def changed_since(trace: Trace, inference: InferenceSettings, defaults: Defaults) -> tuple[Changed, ...]:
    """The differences between the record and today's prompts, and these settings. Raises Poison for a profile that is gone."""
    story = trace.story
    question = next(iter(story.questions), None)
    if question is None:
        return ()
    found = [change for ask in story.asks for change in _changed(ask, question.profile, inference)]
    return tuple(dict.fromkeys([*found, *_settings(story, question, defaults)]))


def _changed(ask: AskRecord, profile: str, inference: InferenceSettings) -> Iterator[Changed]:
    version = version_of(ask.prompt, profile) if ask.version else ""
    if ask.version != version:
        yield Changed(PROMPT + ask.prompt, ask.version, version or "there is none")
    named = Renderer().model(ask.prompt, profile)
    engine, _, model = named.partition(":")
    if engine not in installed("engines"):
        engine, model = inference.engine, named or inference.model
    now = engine if engine == RULES or not (model and ask.model) else f"{engine}:{model}"
    recorded = engine_of(ask) if ":" in now else ask.engine
    if recorded and recorded != now:
        yield Changed("model", engine_of(ask), now)


def _settings(story: RunStory, question: Question, defaults: Defaults) -> Iterator[Changed]:
    with resolving_under(defaults):
        now = resolved(story.question)
    for name in _SETTINGS:
        before, today = getattr(question, name), getattr(now, name)
        if before != today:
            yield Changed(name, str(before), str(today))
