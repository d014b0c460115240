"""`groundwire play`: play back the events that a run showed its client."""

import time
from pathlib import Path

import click
import msgspec

from runtime.commands.options import ASKED_OVER, CONFIG
from runtime.commands.run_sources import refuse, run, settings_for, trace_of
from runtime.replay.event_times import with_waits
from runtime.terminal import say_json


@click.command("play")
@click.argument("run_id", metavar="RUN")
@ASKED_OVER
@click.option(
    "--speed", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="Speed-up over the recorded pace."
)
@click.option("--instant", is_flag=True, help="Print all events at once.")
@CONFIG
def play_command(run_id: str, index: Path | None, speed: float, instant: bool, config: Path | None) -> None:
    """Print the events of RUN (a run id or trace file), one JSON object per line, at their recorded pace."""
    settings = settings_for(index, config)
    trace = run(lambda: trace_of(run_id, settings))
    events = with_waits(trace, None if instant else speed)
    if not events:
        refuse(f"the events of run {trace.run_id} are no longer kept; `groundwire trace show` shows what is")
    for wait, line in events:
        if wait:
            time.sleep(wait)
        say_json(msgspec.Raw(line))
