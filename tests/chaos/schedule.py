"""The faults of a chaos run, with their times: a schedule drawn from a seed, so that a failing one can be repeated."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from actors.pipeline import ACTORS
from bus.wire.messages import QuestionAsked, RunFinished
from tests.chaos.house import OTHERS

#: Seconds from one fault to the next: some overlap, and some leave time to recover.
GAPS_S = (0.3, 1.5, 2.5, 4.0)
#: Events after a hang, so that nothing else can explain the state of readiness.
QUIET_S = 4.0
DURABLES = tuple(actor.name for actor in ACTORS if actor.takes in (QuestionAsked, RunFinished))


@dataclass(frozen=True)
class Fault:
    """`at`: seconds from the beginning; `names`: of processes, consumers or what else is meant; `lasts`: in seconds."""

    at: float
    kind: str
    names: tuple[str, ...] = ()
    lasts: float = 0.0
    seed: int = 0

    def __str__(self) -> str:
        lasts = f" for {self.lasts:.1f} s" if self.lasts else ""
        return f"{self.at:6.1f} {self.kind} {' '.join(self.names)}{lasts}"


def deck(chance: random.Random, actors: Sequence[str]) -> list[Fault]:
    """One of everything, in any order: each process is killed twice, the second time with another one."""
    processes = [*OTHERS, *actors]

    def some(names: Sequence[str], most: int) -> tuple[str, ...]:
        return tuple(chance.sample(names, chance.randint(1, most)))

    others, again = chance.sample(OTHERS, len(OTHERS)), chance.sample(OTHERS, len(OTHERS))
    drawn = [Fault(0, "kill", pair) for pair in zip(others, chance.sample(actors, len(actors)), strict=False)]
    drawn += [Fault(0, "kill", pair) for pair in zip(again, chance.sample(actors, len(actors)), strict=False)]
    drawn += [Fault(0, "stop", some(processes, 2), chance.uniform(0.5, 3.0)) for _ in range(3)]
    drawn += [Fault(0, "hang", (chance.choice(["search", "inference", actors[0]]),), 7.0)]
    drawn += [Fault(0, "messages", (user,), 0.0, chance.getrandbits(32)) for user in ("operator", "integration") * 2]
    drawn += [Fault(0, "consumers", some(DURABLES, 2)) for _ in range(2)]
    drawn += [Fault(0, chance.choice(["events deleted", "events purged"]))]
    drawn += [Fault(0, "index away", (), chance.uniform(0.5, 3.0)), Fault(0, "index damaged", (), 3.0)]
    drawn += [Fault(0, "new snapshot"), Fault(0, "disk full", (), chance.uniform(1.0, 3.0))]
    chance.shuffle(drawn)
    return drawn


def schedule(seed: int, seconds: float, actors: Sequence[str]) -> list[Fault]:
    """The faults of that seed, in order. A longer schedule of a seed begins with its shorter ones."""
    chance = random.Random(seed)
    found: list[Fault] = []
    at = 1.0
    while True:
        for fault in deck(chance, actors):
            if at > seconds:
                return found
            found.append(Fault(at, fault.kind, fault.names, fault.lasts, fault.seed))
            at += fault.lasts + QUIET_S if fault.kind == "hang" else chance.choice(GAPS_S)
