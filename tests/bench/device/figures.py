"""A measured figure, how it is printed, and how much to measure."""

import statistics
from dataclasses import dataclass

median = statistics.median


@dataclass(slots=True, frozen=True, kw_only=True)
class Scale:
    """Enough for stable medians on a tiny model. Counts are requests unless named otherwise."""

    repeats: int = 5  # of every timing; the median counts
    outputs: int = 2000  # replies checked against their schema
    others: int = 1000  # requests between pinning and looking
    reply_tokens: int = 128  # of a free reply in the throughput figures
    prefix_tokens: int = 1500


#: For a slow real model.
QUICK = Scale(repeats=3, outputs=200, others=100)


@dataclass(slots=True, frozen=True)
class Figure:
    name: str
    value: float
    unit: str = ""
    note: str = ""

    def __str__(self) -> str:
        return f"{self.name:<62}{self.value:>10.4g} {self.unit:<9}{self.note}".rstrip()
