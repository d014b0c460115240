"""Check a decoded TOML table against a Struct, and report every wrong key with the nearest valid one."""

import difflib
import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import inspect

#: How alike a word and the name it may mean are, 0..1: two letters of three that are swapped are .67.
NEAR = 0.65

#: The names of types in msgspec's messages, for people who write JSON or TOML.
_TYPES = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
}
_TYPE = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`")
_MISSING = re.compile(r"Object missing required field `(.+)`")


def problems(raw: dict[str, Any], into: type[msgspec.Struct]) -> list[str]:
    """Every problem in `raw`, one line each: the key's path, the problem, the nearest valid name."""
    return unknown_names(raw, into) or list(_wrong(raw, into))


def unknown_names(raw: dict[str, Any], into: type[msgspec.Struct]) -> list[str]:
    """The unknown keys and values alone: they come first, since a misspelt key also causes a missing one."""
    return list(_walk(raw, inspect.type_info(into), ""))


def nearest(word: str, valid: Iterable[str], after: str = "") -> str:
    """`; did you mean 'x'?`, or the valid names when none is near and there are few.

    `after`: what the word and all valid names begin with, which makes none of them nearer.
    """
    choices = sorted(valid)
    ends = [choice.removeprefix(after) for choice in choices]
    close = difflib.get_close_matches(word.removeprefix(after), ends, n=1, cutoff=NEAR)
    if close:
        return f"; did you mean '{after}{close[0]}'?"
    return f"; one of {', '.join(choices)}" if len(choices) <= 14 else ""


def _walk(value: Any, wanted: inspect.Type, path: str) -> Iterable[str]:
    if isinstance(wanted, inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in wanted.fields}
        for key, inner in value.items():
            if key in fields:
                yield from _walk(inner, fields[key], _joined(path, key))
            elif key != wanted.tag_field and wanted.forbid_unknown_fields:
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
            is_clear = (
                isinstance(choice, inspect.StructType)
                and isinstance(value, dict)
                and value.get(choice.tag_field) == choice.tag
            )
            if is_clear or (isinstance(choice, inspect.LiteralType) and isinstance(value, str)):
                yield from _walk(value, choice, path)


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _wrong(raw: dict[str, Any], into: type[msgspec.Struct]) -> Iterable[str]:
    """The problem of each field, in their order."""
    result = False
    for field in msgspec.structs.fields(into):
        name = field.encode_name
        if name in raw:
            problem = _problem(raw[name], field.type)
            if problem and "`$[...]" in problem:
                problem = _with_key(problem, raw[name], field.type)
        else:
            problem = f"Object missing required field `{name}` - at `$`" if field.required else ""
            name = ""
        if problem:
            result = True
            what, _, where = problem.replace(" - at `key` in ", " - at ").partition(" - at ")
            yield _plain(f"{what} - at `{_joined('$', name)}{where.removeprefix('`$') or '`'}")
    if not result and (problem := _problem(raw, into)):  # of the fields together
        yield _plain(problem)


def _problem(value: object, wanted: Any) -> str:
    try:
        msgspec.convert(value, wanted, strict=True)
    except msgspec.ValidationError as problem:
        return str(problem)
    return ""


def _with_key(problem: str, table: dict[str, Any], wanted: Any) -> str:
    """msgspec writes `$[...]`: fill in the key of the entry that alone causes the same problem."""
    alone = (key for key, value in table.items() if _problem({key: value}, wanted) == problem)
    key = next(alone, None)
    return problem.replace("[...]", f".{key}", 1) if key is not None else problem


def _plain(problem: str) -> str:
    """msgspec's message with the path first, like the other lines."""
    what, _, where = problem.partition(" - at ")
    what = what.replace("Invalid RFC3339 encoded date", "Expected a date like 2026-01-31")
    where = where.strip("`").removeprefix("key` in `").removeprefix("$").removeprefix(".")
    if missing := _MISSING.fullmatch(what):
        return f"{_joined(where, missing[1])}: is missing"
    what = _TYPE.sub(_type_names, what)
    return f"{where}: {what[:1].lower()}{what[1:]}" if where else problem


def _type_names(types: re.Match[str]) -> str:
    """`float | null` is "a number": a key that may be null may also be left out."""
    names = [name for name in types[1].split(" | ") if name != "null"] or ["null"]
    return " or ".join(_TYPES.get(name, name) for name in names)
