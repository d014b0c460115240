"""The pipeline as a graph, read from the actors' signatures and checked at start."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from bus.delivery.actor import Actor
from bus.wire.errors import Poison
from bus.wire.messages import Message, QuestionAsked, RunFinished, message_type
from bus.wire.subjects import Key


class GraphError(Exception):
    """The actors do not form a pipeline; the message names the wrong type or actor and the fix."""


class Graph:
    """The checked wiring. The constructor raises GraphError."""

    def __init__(self, actors: Iterable[Actor]) -> None:
        self.actors = tuple(actors)
        self._again: dict[str, tuple[type[Message], ...]] = {}
        self._check()

    def consumers(self, message: type[Message]) -> tuple[Actor, ...]:
        return tuple(a for a in self.actors if a.takes is message)

    def again(self, actor: Actor) -> tuple[type[Message], ...]:
        """The messages by which an actor sends a run round a loop back to itself; `bound` counts these."""
        return self._again[actor.name]

    def _follows(self, actor: Actor, given: type[Message], loop: tuple[Actor, ...]) -> bool:
        after = loop[(loop.index(actor) + 1) % len(loop)]
        return after in self.consumers(given)

    def _check(self) -> None:
        names = [a.name for a in self.actors]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise GraphError(
                f"two actors are called {twice[0]}; an actor's name is also its durable consumer's, so rename one"
            )
        given: set[type[Message]] = {QuestionAsked, *(g for a in self.actors for g in a.gives)}
        for message in sorted(given, key=message_type):
            if not self.consumers(message):
                raise GraphError(f"nobody consumes {message.__name__}; write an actor that takes it")
        for a in self.actors:
            if a.takes not in given:
                raise GraphError(f"actor {a.name} is unreachable: nobody produces {a.takes.__name__}")
        if RunFinished not in given:
            raise GraphError("no actor produces RunFinished, so no run would ever end")
        self._check_reached()
        loops = self._loops()
        for loop in loops:
            if not any(a.bound for a in loop):
                path = " -> ".join(a.name for a in loop)
                raise GraphError(f"the loop {path} has no bound; declare bound= on the actor that closes it")
        for a in self.actors:
            if a.bound and not any(a in loop for loop in loops):
                raise GraphError(f"actor {a.name} declares bound= but closes no loop; leave it out")
            self._again[a.name] = tuple(
                g for g in a.gives if any(a in loop and self._follows(a, g, loop) for loop in loops)
            )

    def _check_reached(self) -> None:
        reached: set[str] = set()
        frontier: list[type[Message]] = [QuestionAsked]
        while frontier:
            for a in self.consumers(frontier.pop()):
                if a.name not in reached:
                    reached.add(a.name)
                    frontier.extend(a.gives)
        if lost := sorted({a.name for a in self.actors} - reached):
            raise GraphError(f"actor {lost[0]} is unreachable from QuestionAsked; wire it or remove it")

    def _loops(self) -> list[tuple[Actor, ...]]:
        found: list[tuple[Actor, ...]] = []

        def walk(a: Actor, path: tuple[Actor, ...]) -> None:
            if a in path:
                found.append(path[path.index(a) :])
                return
            for given in a.gives:
                for follower in self.consumers(given):
                    walk(follower, (*path, a))

        for a in self.consumers(QuestionAsked):
            walk(a, ())
        return found

    def mermaid(self) -> str:
        """The graph as a Mermaid diagram: boxes are actors, arrows are the messages between them."""
        lines = ["flowchart TD", "    client([client]) -->|QuestionAsked| " + self.consumers(QuestionAsked)[0].name]
        for a in self.actors:
            for given in a.gives:
                for follower in self.consumers(given):
                    label = given.__name__ + (" *" if a.fans_out else "")
                    arrow = "==>" if follower.joins else "-->"
                    lines.append(f"    {a.name} {arrow}|{label}| {follower.name}")
            if not a.gives:
                lines.append(f"    {a.name} --> done([DONE])")
        return "\n".join(lines)


class InLane(Protocol):
    @property
    def key(self) -> Key: ...
    @property
    def sequence(self) -> int: ...


def joined[R: InLane](records: Sequence[R], last: Message, sequence: int = 0) -> tuple[R, ...]:
    """The lanes to join on this message, in plan order; none when a lane is missing or, with `sequence`, was written after it.

    `sequence` is for the records of a whole run, of which the one written last triggers the join. Raises Poison for a message
    that names no lanes.
    """
    plan = getattr(last, "plan", None)
    if plan is None:
        raise Poison(f"{type(last).__name__} names no lanes, so it cannot be joined")
    by_lane = {record.key.lane: record for record in records if record.key.type == message_type(type(last))}
    if any(planned.id not in by_lane for planned in plan):
        return ()
    lanes = tuple(by_lane[planned.id] for planned in plan)
    return () if sequence and max(record.sequence for record in lanes) != sequence else lanes
