"""Mask all the text inside a message, an event or any JSON value, at any depth."""

from typing import Any, Final, cast
from urllib.parse import unquote

import msgspec

from index.masking.text import mask
from index.source_paths import PAGES, PATH, source_path

#: Fields that hold one of our ids or a word of a closed list: there is nothing of a person in them, and a mask would break them.
_OURS: Final = frozenset(
    {
        "type", "run_id", "parent", "snapshot", "version", "variables", "lane", "id", "sub_query_id", "profile", "language", "kind",
        "strength", "outcome", "reason", "re_gate", "confidence", "model", "engine", "prompt", "date", "syntax", "score_type",
    }
)  # fmt: skip


def _masked_path(path: str) -> str:
    """The path of a source's page with its id masked as it is elsewhere, in any spelling of a path."""
    pages, _, position = path.partition("?")
    plain = unquote(pages.removeprefix(PAGES))
    hidden = mask(plain)
    return path if hidden == plain else source_path(hidden) + (f"?{position}" if position else "")


def masked[Value](value: Value) -> Value:
    """`value` with every text in it masked; what holds nothing personal is returned as it is."""
    return cast(Value, _masked(value))


def _masked(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return _masked_path(value) if value.startswith(PAGES) and PATH.fullmatch(value) else mask(value)
    if isinstance(value, msgspec.Struct):
        fields = ((name, getattr(value, name)) for name in value.__struct_fields__ if name not in _OURS)
        changed = {name: new for name, old in fields if (new := _masked(old)) is not old and new != old}
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, dict):
        new = {_masked(key): inner if key in _OURS else _masked(inner) for key, inner in value.items()}
        return new if new != value else value
    if isinstance(value, tuple | list):
        items = [_masked(item) for item in value]
        return value if items == list(value) else type(value)(items)
    return value
