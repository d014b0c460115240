"""`groundwire bench`: measure this machine."""

import asyncio

import click

from bus.wire.errors import Failure
from runtime.engines.mlx.settings import DEFAULT_MODEL
from runtime.measure.device.figures import Table
from runtime.measure.device.run import MEASURES, bench
from runtime.measure.device.scale import FULL, QUICK
from runtime.terminal import one_line, say


@click.group("bench")
def bench_group() -> None:
    """Measure this machine."""


@bench_group.command("inference")
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="Model folder or hub id.")
@click.option("--full", is_flag=True, help="Run every request; slow on a real model.")
@click.option("--only", multiple=True, type=click.Choice(list(MEASURES)), help="Measure only this; repeatable.")
@click.pass_context
def inference(ctx: click.Context, model: str, full: bool, only: tuple[str, ...]) -> None:
    """Measure a local model's throughput, latency, caching and correctness.

    Compares with mlx-lm's own loop and server. Prints each figure beside its target, and decode speed as a share of the
    chip's memory bandwidth. Exits 1 when a target is missed.
    """
    table = Table(show=say)
    try:
        asyncio.run(bench(model, FULL if full else QUICK, only=only, table=table))
    except Failure as failure:
        say(f"error: {one_line(str(failure))}", err=True)
        ctx.exit(1)
    ctx.exit(1 if table.missed else 0)
