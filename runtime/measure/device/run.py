"""Run all measurements and print the table."""

import time
from collections.abc import Awaitable, Callable

from runtime.measure.device import correctness, latency, roofline, throughput
from runtime.measure.device.figures import Figure, Table
from runtime.measure.device.scale import FULL, Scale

type Measure = Callable[[str, Scale], Awaitable[list[Figure]]]

MEASURES: dict[str, Measure] = {
    "schema": correctness.schema_valid,
    "throughput": throughput.tokens_per_s,
    "first": latency.first_token,
    "prefix": latency.prefix,
    "pinned": correctness.pinned_prefixes,
    "gap": latency.worst_gap,
    "grammar": throughput.grammar_cost,
    "judgements": throughput.judgements_per_s,
    "cancel": latency.cancellation,
    "lag": latency.loop_lag,
    "exit": correctness.exit_codes,
    "roofline": roofline.roofline,
}


async def bench(model: str, scale: Scale = FULL, *, only: tuple[str, ...] = (), table: Table | None = None) -> Table:
    """Run the measurements in `only`, or all. Raises: Unavailable when the model cannot be loaded."""
    table = table or Table()
    began = time.perf_counter()
    for name, measure in MEASURES.items():
        if not only or name in only:
            table.add(*await measure(model, scale))
    ok = sum(figure.target is not None and figure.ok for figure in table.figures)
    spent = time.perf_counter() - began
    table.show(f"{ok} ok, {len(table.missed)} missed, in {spent:.0f} s; medians of {scale.repeats}")
    return table
