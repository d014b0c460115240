"""The record of each request, and the view of the device while it runs."""

from typing import Literal

import msgspec

from prompts.vocabulary import Priority

Operation = Literal["generate", "verdict", "embed"]
Ending = Literal["stop", "length", "cancelled", "expired", "failed"]
State = Literal["closed", "loading", "warming", "ready", "stuck", "failed"]


class RequestRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What one request cost. `tokens_out` includes forced tokens; times are in seconds."""

    request_id: str
    operation: Operation
    prompt: str  # empty for embeddings
    version: str
    engine: str
    model: str
    model_digest: str
    priority: Priority
    seed: int
    schema: str  # digest of the schema; empty for free text
    ending: Ending
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_prefilled: int = 0
    tokens_out: int = 0
    tokens_forced: int = 0
    queue_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    replays: int = 0
    probability: float | None = None  # of the chosen value, for a verdict
    shortened: str = ""


class DeviceView(msgspec.Struct, frozen=True, kw_only=True):
    """The device at one moment. Ages are in seconds; `step_age_s` is how long the running step has taken."""

    state: State
    model: str
    rows_decoding: int = 0
    rows_prefilling: int = 0
    waiting: dict[str, int] = {}
    queue_age_s: float = 0.0
    step_age_s: float = 0.0
    steps: int = 0
    tokens_out: int = 0
    tokens_prefilled: int = 0
    tokens_cached: int = 0
    pinned_prefixes: int = 0
    shared_prefixes: int = 0
    prefix_bytes: int = 0
    memory_bytes: int = 0
    memory_limit_bytes: int = 0
    weight_bytes: int = 0
    faults: int = 0
