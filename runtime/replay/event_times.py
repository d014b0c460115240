"""A run's events with the wait before each."""

from runtime.replay.trace import ASKED, Trace


def with_waits(trace: Trace, speed: float | None) -> list[tuple[float, bytes]]:
    """Each event with the seconds to wait before it; `speed` 2 halves the waits, None drops them.

    The first wait is from the question to the first event.
    """
    at = next((record.time for record in trace.records if record.key.type == ASKED), None)
    found: list[tuple[float, bytes]] = []
    for frame in trace.frames:
        wait = max(0.0, frame.time - at) / speed if speed and at is not None else 0.0
        at = max(frame.time, at or frame.time)
        first, *rest = frame.data.split(b"\n")
        found += [(wait, first), *((0.0, line) for line in rest)]
    return found
