"""Check a decoded TOML table against a Struct, and report every wrong key with the nearest valid one."""

import difflib
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import inspect


def problems(raw: dict[str, Any], into: type[msgspec.Struct]) -> list[str]:
    """Every problem in `raw`, one line each: the key's path, what is wrong, the nearest valid name."""
    found = list(_walk(raw, inspect.type_info(into), ""))
    if not found:  # what the walk does not check: types, bounds, missing keys
        try:
            msgspec.convert(raw, into, strict=True)
        except msgspec.ValidationError as problem:
            found.append(_plain(_with_key(str(problem), raw, into)))
    return found


def nearest(word: str, valid: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or the valid names when none is near and there are few."""
    choices = sorted(valid)
    close = difflib.get_close_matches(word, choices, n=1, cutoff=0.5)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; one of {', '.join(choices)}" if len(choices) <= 14 else ""


def _walk(value: Any, wanted: inspect.Type, path: str) -> Iterable[str]:
    if isinstance(wanted, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in wanted.fields}
        for key, inner in value.items():
            if key in fields:
                yield from _walk(inner, fields[key], _joined(path, key))
            elif key != wanted.tag_field:
                yield f"{_joined(path, key)}: unknown key{nearest(key, fields)}"
    elif isinstance(wanted, inspect.DictType) and isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(key, wanted.key_type, _joined(path, key))
            yield from _walk(inner, wanted.value_type, _joined(path, key))
    elif isinstance(wanted, inspect.VarTupleType) and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, wanted.item_type, f"{path}[{index}]")
    elif isinstance(wanted, inspect.LiteralType) and isinstance(value, str) and value not in wanted.values:
        yield f"{path}: unknown value '{value}'{nearest(value, map(str, wanted.values))}"
    elif isinstance(wanted, inspect.UnionType):
        for choice in wanted.types:
            told = (
                isinstance(choice, inspect.StructType)
                and isinstance(value, dict)
                and value.get(choice.tag_field) == choice.tag
            )
            if told or (isinstance(choice, inspect.LiteralType) and isinstance(value, str)):
                yield from _walk(value, choice, path)


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _with_key(problem: str, raw: dict[str, Any], into: type[msgspec.Struct]) -> str:
    """msgspec writes `$.agents[...]`: fill in the key whose entry alone causes the same problem."""
    for field, table in raw.items():
        if isinstance(table, dict) and f"`$.{field}[...]" in problem:
            for key, value in table.items():
                try:
                    msgspec.convert({**raw, field: {key: value}}, into, strict=True)
                except msgspec.ValidationError as alone:
                    if str(alone) == problem:
                        return problem.replace("[...]", f".{key}", 1)
    return problem


def _plain(problem: str) -> str:
    """msgspec's message with the path first, like the other lines."""
    what, _, where = problem.partition(" - at ")
    what = what.replace("Invalid RFC3339 encoded date", "Expected a date like 2026-01-31")
    where = where.strip("`").removeprefix("key` in `").removeprefix("$.")
    return f"{where}: {what[:1].lower()}{what[1:]}" if where else problem
