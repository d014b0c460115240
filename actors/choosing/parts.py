"""Choose for a question that asks several things: for each of its parts by itself, where that is surer than for the whole."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from actors.choosing.choose import Choice, choose
from actors.choosing.confidence import shows
from actors.choosing.follow_ups import choose_follow_up
from actors.choosing.units import MOST
from actors.evidence.spans import share_held
from bus.wire.messages import Collection, Passage, Question


def choose_parts(
    question: Question,
    parts: Sequence[str],
    passages: Sequence[Passage],
    collection: Collection,
    synonyms: Mapping[str, Sequence[str]] | None = None,
) -> Choice | None:
    """What to show for a question with these parts, each a statement to search for; as `choose` for a single one.

    A part of which nothing is sure is left out, and makes the whole less probable.
    """
    whole = choose_follow_up(question, passages, collection, synonyms)
    if whole is None or len(parts) < 2 or whole.compares:
        return whole
    most = MOST / len(parts)
    found = [
        choose(
            msgspec.structs.replace(question, text=part, topic=""),
            passages,
            collection,
            synonyms,
            most,
            ranks_for(part, passages),
        )
        for part in parts
    ]
    sure = [choice for choice in found if choice is not None and shows(choice.probability, question.voice)]
    if not sure:
        return whole
    mean = sum(choice.probability for choice in sure) / len(sure)
    probability = mean * math.sqrt(len(sure) / len(parts))
    if probability <= whole.probability:
        return whole
    shown = {each.unit.order: (each, lead) for c in sure for each, lead in zip(c.shown, c.leads, strict=True)}
    return replace(
        whole,
        shown=tuple(each for each, _ in shown.values()),
        leads=tuple(lead for _, lead in shown.values()),
        probability=probability,
    )


def ranks_for(part: str, passages: Sequence[Passage]) -> tuple[int, ...]:
    """The rank of each passage for one part, by how much of the part it holds: they were merged over all parts."""
    held = [share_held(part, f"{passage.title} {passage.text}") for passage in passages]
    order = sorted(range(len(passages)), key=lambda at: -held[at])
    return tuple(rank for _, rank in sorted((at, rank) for rank, at in enumerate(order)))
