"""Declarations on a field of a prompt's variables: the place of its text, and whether it may be shortened."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec


class Place(enum.Enum):
    """The place of a text in its prompt. By default it is inside a line, and so loses its line breaks."""

    LINE = "inside a line"
    BLOCK = "on lines of its own, between tags of ours"
    ATTRIBUTE = "in a quoted attribute of a tag"


Block = Annotated[str, Place.BLOCK]
Attribute = Annotated[str, Place.ATTRIBUTE]

#: The place of a text, or the places of the fields below it.
type Placement = Place | Mapping[str, Placement]


@dataclass(frozen=True, slots=True)
class Shortened:
    """Marks a tuple to cut when the prompt is too long: it loses its last items, or its `oldest`; lower orders first."""

    order: int
    oldest: bool = False


@cache
def places(kind: type[msgspec.Struct]) -> Mapping[str, Placement]:
    return {name: _placement(hint) for name, hint in _hints(kind).items()}


@cache
def shortened(kind: type[msgspec.Struct]) -> tuple[tuple[str, Shortened], ...]:
    """The fields that may be shortened, in the order in which to shorten them."""
    found = [
        (name, note) for name, hint in _hints(kind).items() for note in _notes(hint) if isinstance(note, Shortened)
    ]
    return tuple(sorted(found, key=lambda field: field[1].order))


def _hints(kind: type[msgspec.Struct]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in kind.__struct_fields__}


def _notes(hint: Any) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _placement(hint: Any) -> Placement:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return places(hint)
    if place := next((note for note in _notes(hint) if isinstance(note, Place)), None):
        return place
    if get_origin(hint) in (Annotated, tuple, UnionType, Union):  # one that holds an Annotated is a Union
        return _placement(get_args(hint)[0])
    return Place.LINE
