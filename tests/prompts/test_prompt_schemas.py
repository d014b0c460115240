"""The schemas in the prompt files and the Structs in the contracts describe the same things, and leave nothing unbounded."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from llguidance import LLMatcher
from msgspec import inspect

from prompts.contracts import PROMPTS, Prompt
from prompts.documentation import documentation
from prompts.library import Library

ALL = [pytest.param(prompt, id=prompt.name) for prompt in PROMPTS]
WITH_SCHEMA = [pytest.param(prompt, id=prompt.name) for prompt in PROMPTS if prompt.reply_type() is not str]


def disagreements(  # noqa: PLR0912 - one branch a kind of type
    wanted: inspect.Type, schema: dict[str, Any], path: str = "reply"
) -> Iterator[str]:
    """Where a Struct and a JSON Schema part, or the schema leaves something unbounded."""
    match wanted:
        case inspect.StructType(fields=fields):
            names = [field.encode_name for field in fields]
            required = [field.encode_name for field in fields if field.required]
            if list(schema["properties"]) != names or schema["required"] != required:
                yield f"{path}: {names} is not {list(schema['properties'])} with required {schema['required']}"
            if schema["additionalProperties"] is not False:
                yield f"{path}: admits more properties"
            for field in fields:
                yield from disagreements(field.type, schema["properties"][field.encode_name], f"{path}.{field.name}")
        case inspect.VarTupleType(item_type=item):
            if schema["type"] != "array" or "maxItems" not in schema:
                yield f"{path}: no bounded array"
            yield from disagreements(item, schema["items"], f"{path}[]")
        case inspect.LiteralType(values=values):
            if set(schema["enum"]) != set(values):
                yield f"{path}: {schema['enum']} is not {values}"
        case inspect.StrType():
            if schema["type"] != "string" or not ("maxLength" in schema or "enum" in schema):
                yield f"{path}: no bounded string"
        case inspect.IntType():
            if schema["type"] != "integer" or not {"minimum", "maximum"} <= set(schema):
                yield f"{path}: no bounded integer"
        case inspect.BoolType():
            if schema["type"] != "boolean":
                yield f"{path}: no boolean"
        case _:
            yield f"{path}: {wanted} has no place in a reply"


def picoschema(wanted: inspect.Type) -> object:
    """A variables Struct in Picoschema."""
    match wanted:
        case inspect.StructType(fields=fields):
            shown: dict[str, object] = {}
            for field in fields:
                array = "(array)" if isinstance(field.type, inspect.VarTupleType) else ""
                shown[f"{field.encode_name}{array}"] = picoschema(field.type)
            return shown
        case inspect.VarTupleType(item_type=item):
            return picoschema(item)
        case inspect.BoolType():
            return "boolean"
        case inspect.IntType():
            return "integer"
        case inspect.FloatType():
            return "number"
    return "string"


@pytest.mark.parametrize("prompt", WITH_SCHEMA)
def test_reply_struct_matches_the_output_schema(prompt: type[Prompt[Any]], library: Library) -> None:
    schema = library.schema(prompt.name)
    assert schema is not None
    assert list(disagreements(inspect.type_info(prompt.reply_type()), schema)) == []


def test_a_disagreement_is_noticed() -> None:
    class Reply(msgspec.Struct):
        kind: str
        count: int

    part = {"kind": {"type": "string"}, "count": {"type": "integer", "minimum": 0}}
    schema = {"type": "object", "properties": part, "required": ["kind"], "additionalProperties": True}
    assert len(list(disagreements(inspect.type_info(Reply), schema))) == 4


@pytest.mark.parametrize("prompt", ALL)
def test_variables_struct_matches_the_input_schema(prompt: type[Prompt[Any]], library: Library) -> None:
    assert library.file(prompt.name).input == picoschema(inspect.type_info(prompt))


@pytest.mark.parametrize("prompt", WITH_SCHEMA)
def test_the_grammar_compiles(prompt: type[Prompt[Any]], library: Library) -> None:
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(library.schema(prompt.name)))
    assert LLMatcher.validate_grammar(grammar) == ""


@pytest.mark.parametrize("prompt", WITH_SCHEMA)
def test_prompt_examples_match_their_schema(prompt: type[Prompt[Any]], library: Library) -> None:
    """An example that breaks the schema would teach the model to."""
    system = library.file(prompt.name).system
    examples = [line.partition("-> ")[2] for line in system.splitlines() if "-> {" in line]
    for example in examples:
        msgspec.json.decode(example.encode(), type=prompt.reply_type(), strict=True)
    assert examples or "(statement and focus only)" in system or "of a choice" in system or "of a decision" in system


def test_documentation_has_a_row_for_every_agent(library: Library) -> None:
    table = documentation(library)
    rows = table.strip().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [prompt.name for prompt in PROMPTS]
    assert "| 0.0 / 200 |" in rows[0]
    assert "`claim` ≤ 50" in table
    assert "`sub_queries` [1..5] of `id` sq_1/" in table
