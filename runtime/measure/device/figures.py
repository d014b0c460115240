"""Figures with their targets, and how they are printed."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True, frozen=True)
class Figure:
    """A measured figure. `target` is a minimum, or a maximum if `most`; None for a figure without a target."""

    name: str
    value: float
    unit: str = ""
    target: float | None = None
    most: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.target is None or (self.value <= self.target if self.most else self.value >= self.target)

    def line(self) -> str:
        wanted = "" if self.target is None else f"{'≤' if self.most else '≥'} {_number(self.target)}"
        verdict = "" if self.target is None else ("ok" if self.ok else "missed")
        line = f"{self.name:<62}{_number(self.value):>10} {self.unit:<9}{wanted:>10}  {verdict:<6}  {self.note}"
        return line.rstrip()


@dataclass(slots=True)
class Table:
    """A table of figures, printed as they are measured."""

    show: Callable[[str], None] = print
    figures: list[Figure] = field(default_factory=list)

    def add(self, *figures: Figure) -> None:
        for figure in figures:
            self.figures.append(figure)
            self.show(figure.line())

    @property
    def missed(self) -> list[Figure]:
        return [figure for figure in self.figures if not figure.ok]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
