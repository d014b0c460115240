"""A unit among all those of the passages found, as the ranking sees it."""

from dataclasses import dataclass

from actors.choosing.features import FEATURES, Read
from actors.choosing.units import Unit


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit with its score, unbounded, and its share of the probability among all units and none; `values` are its features."""

    unit: Unit
    score: float
    share: float
    values: tuple[float, ...]
    read: Read

    def value(self, feature: str) -> float:
        return self.values[_PLACE[feature]]


_PLACE = {name: place for place, name in enumerate(FEATURES)}
