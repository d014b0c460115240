"""The trace of a run as JSON: its stages, and one stage with its messages, prompts and replies."""

import msgspec

from runtime.replay.explained import BestUnit, Hit, Told


class TracedStage(msgspec.Struct, frozen=True, kw_only=True):
    """One call of an actor. `began_s` counts from the question's arrival; it and `took_s` are null of a stage that wrote nothing.

    `takes` and `gives` are types of messages. `asks`: the prompts that went to a model, `searches`: how many to the index.
    """

    step: int
    stage: str
    lane: str
    takes: str
    gives: tuple[str, ...]
    began_s: float | None = None
    took_s: float | None = None
    attempt: int = 1
    fallback: str = ""
    asks: tuple[str, ...] = ()
    searches: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class RunTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The stages of a run in the order of the inputs. `took_s`: from the question to the last record.

    `sentences` are those of the draft, `hits` what the search found, `best` the units that the rules chose among.
    `probability`: that their choice answers, `needed`: the least for an answer; null where they chose nothing.
    """

    run_id: str
    asked_at: float
    took_s: float
    stages: tuple[TracedStage, ...]
    sentences: tuple[Told, ...] = ()
    hits: tuple[Hit, ...] = ()
    best: tuple[BestUnit, ...] = ()
    probability: float | None = None
    needed: float | None = None


class TracedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the journal, as it was written."""

    type: str
    lane: str
    message: msgspec.Raw


class TracedAsk(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model and its `reply`. `system` and `user`: what today's prompt file makes of the variables of then;
    empty where it cannot be made again. `cut`: the paths of the reply that were cut to their limits. `same_version`: the file
    is not known to have changed since.
    """

    prompt: str
    version: str
    same_version: bool
    system: str
    user: str
    reply: str
    engine: str = ""
    model: str = ""
    finish_reason: str = ""
    took_s: float = 0.0
    queue_s: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: bool = False
    cut: str = ""
    failure: str = ""


class TracedSearch(msgspec.Struct, frozen=True, kw_only=True):
    """One search, with its hits as they came."""

    query: str
    took_s: float
    hits: msgspec.Raw


class TracedStep(msgspec.Struct, frozen=True, kw_only=True):
    """All of one stage: what it took and gave, and what its powers returned."""

    step: int
    stage: str
    lane: str
    took: tuple[TracedMessage, ...]
    gave: tuple[TracedMessage, ...]
    asks: tuple[TracedAsk, ...]
    searches: tuple[TracedSearch, ...]
    fallback: str = ""
