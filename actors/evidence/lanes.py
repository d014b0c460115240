"""The lanes of a round: the model's proposed searches, made usable."""

from bus.messages import SubQuery
from bus.subjects import BadId, check_id


def usable_lanes(found: tuple[tuple[str, str, str], ...], prefix: str, most: int) -> tuple[SubQuery, ...]:
    """Sub-queries that have a statement, without repeats, renumbered where a model's id cannot be a lane."""
    lanes: list[SubQuery] = []
    for given, statement, focus in found:
        text = statement.strip()
        if not text or any(text == lane.statement for lane in lanes):
            continue
        name = given if given.startswith(f"{prefix}_") and _is_id(given) else f"{prefix}_{len(lanes) + 1}"
        if any(name == lane.id for lane in lanes):
            name = f"{prefix}_{len(lanes) + 1}x"
        lanes.append(SubQuery(id=name, statement=text, focus=focus.strip()))
    return tuple(lanes[:most])


def _is_id(value: str) -> bool:
    try:
        check_id(value)
    except BadId:
        return False
    return True
