"""The fields that two Structs have in common."""

from typing import Any

import msgspec


def same_fields(source: msgspec.Struct, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of a Struct that another kind has under the same names, to make one of that kind from."""
    return {name: getattr(source, name) for name in source.__struct_fields__ if name in kind.__struct_fields__}
