"""The device's settings."""

import msgspec

DEFAULT_MODEL = "mlx-community/Qwen3-4B-Instruct-2507-4bit"


class DeviceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value of 0 means the model's or the machine's own limit."""

    model: str = DEFAULT_MODEL  # a folder or a hub id
    chunk_tokens: int = 128  # tokens prefilled between two steps while something streams: a stream's longest stall
    idle_chunk_tokens: int = 512  # the same while nothing streams
    max_rows: int = 32  # requests decoding or prefilling at once
    reserved_rows: int = 2  # of them kept free for answers and checks
    max_waiting: int = 1024  # requests in the queue; more are refused
    context_tokens: int = 0
    memory_bytes: int = 0
    shared_bytes: int = 0  # for prefixes that requests share; 0: a sixteenth of the memory
    forced_prefix: bool = True  # put what a grammar forces at the start into the prompt; off only for measurements
    hang_s: float = 60.0  # a step longer than this means the device hangs
