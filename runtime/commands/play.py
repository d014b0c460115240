"""`groundwire play`: play back the events that a run showed its client."""

import asyncio
import time

import click
import msgspec

from runtime.commands.options import ASKED_OVER
from runtime.commands.run_sources import refuse, trace_of, with_settings
from runtime.replay.trace import ASKED, Trace
from runtime.settings import Settings
from runtime.terminal import say_json


@click.command("play")
@click.argument("run_id", metavar="RUN")
@ASKED_OVER
@click.option(
    "--speed", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="Speed-up over the recorded pace."
)
@click.option("--instant", is_flag=True, help="Print all events at once.")
@with_settings
def play_command(run_id: str, speed: float, instant: bool, settings: Settings) -> None:
    """Print the events of RUN (a run id or trace file), one JSON object per line, at their recorded pace."""
    trace = asyncio.run(trace_of(run_id, settings))
    events = with_waits(trace, None if instant else speed)
    if not events:
        refuse(f"the events of run {trace.run_id} are no longer kept; `groundwire trace show` shows what is")
    for wait, line in events:
        if wait:
            time.sleep(wait)
        say_json(msgspec.Raw(line))


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
