"""The lanes of a round: the model's proposed searches, made usable, and what they found, as one ranking."""

from bus.wire.messages import Passage, SubQuery
from bus.wire.subjects import BadId, check_id
from index.search.fusion import reciprocal_rank


def usable_lanes(proposed: tuple[tuple[str, str, str], ...], prefix: str, most: int) -> tuple[SubQuery, ...]:
    """Sub-queries that have a statement, without repeats, renumbered where a model's id cannot be a lane."""
    lanes: list[SubQuery] = []
    for given, statement, focus in proposed:
        text = statement.strip()
        if not text or any(text == lane.statement for lane in lanes):
            continue
        name = given if given.startswith(f"{prefix}_") and _is_id(given) else f"{prefix}_{len(lanes) + 1}"
        if any(name == lane.id for lane in lanes):
            name = f"{prefix}_{len(lanes) + 1}x"
        lanes.append(SubQuery(id=name, statement=text, focus=focus.strip()))
    return tuple(lanes[:most])


def merge(lanes: tuple[tuple[Passage, ...], ...]) -> tuple[Passage, ...]:
    """Every passage once, by reciprocal rank over the lanes; ties go to earlier lanes."""
    first: dict[tuple[str, int, int], Passage] = {}
    rankings = [[(p.source_id, p.char_start, p.char_end) for p in lane] for lane in lanes]
    for ranking, lane in zip(rankings, lanes, strict=True):
        for key, passage in zip(ranking, lane, strict=True):
            first.setdefault(key, passage)
    return tuple(first[key] for key in reciprocal_rank(rankings))


def _is_id(value: str) -> bool:
    try:
        check_id(value)
    except BadId:
        return False
    return True
