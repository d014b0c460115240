"""The prompt files, their Structs and field declarations describe the same things, and leave nothing unbounded."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from llguidance import LLMatcher
from msgspec import inspect

from prompts.contracts import PROMPTS, ClassifyQuery, Part, Prompt
from prompts.fields import Block, Place, Placement, Shortened, places, shortened
from prompts.library import FOLDER, Library
from runtime.engines.mlx.prepare import fit
from tests.prompts.samples import SAMPLES

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
    schema = library.file(prompt.name).schema
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
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(library.file(prompt.name).schema))
    assert LLMatcher.validate_grammar(grammar) == ""


@pytest.mark.parametrize("prompt", WITH_SCHEMA)
def test_prompt_examples_match_their_schema(prompt: type[Prompt[Any]], library: Library) -> None:
    """An example that breaks the schema would teach the model to."""
    system = library.file(prompt.name).system
    examples = [line.partition("-> ")[2] for line in system.splitlines() if "-> {" in line]
    for example in examples:
        msgspec.json.decode(example.encode(), type=prompt.reply_type(), strict=True)
    assert examples or "(statement and focus only)" in system or "of a choice" in system or "of a decision" in system


HOSTILE = 'one\ntwo "three" > four'


class Note(Part, frozen=True, kw_only=True):
    topic: str
    body: Block


class Noted(ClassifyQuery, frozen=True, kw_only=True):
    """A prompt with fields that only their declaration knows of."""

    topic: str
    words: tuple[str, ...]
    notes: Annotated[tuple[Note, ...], Shortened(1)]


NOTED = Noted(
    original_query=HOSTILE,
    language="en",
    topic=HOSTILE,
    words=(HOSTILE,),
    notes=(Note(topic=HOSTILE, body=HOSTILE), Note(topic="b", body="c")),
)
TEMPLATE = """Topic: {{topic}}; {{#each words}}{{this}}{{/each}}.
{{#each notes}}Note on {{this.topic}}:
{{this.body}}
{{/each}}"""


@pytest.fixture
def noted(tmp_path: Path) -> Library:
    for path in FOLDER.glob("*.prompt"):
        (tmp_path / path.name).write_text(path.read_text("utf-8"), encoding="utf-8")
    with (tmp_path / "classify_query.prompt").open("a", encoding="utf-8") as file:
        file.write(TEMPLATE)
    return Library(folders=(tmp_path,))


def test_new_field_keeps_line_breaks_if_declared(noted: Library) -> None:
    user = noted.render(NOTED).user
    line = HOSTILE.replace("\n", " ")
    assert f"Topic: {line}; {line}.\nNote on {line}:\n{HOSTILE}\n" in user
    assert f"<question>\n{HOSTILE}\n</question>" in user


def test_new_field_is_shortened_if_declared() -> None:
    assert [name for name, _ in shortened(Noted)] == ["notes"]
    shorter, what = fit(NOTED, lambda prompt: len(prompt.notes) <= 1) or (NOTED, "")  # type: ignore[attr-defined]
    assert (what, shorter) == ("notes 1 of 2", msgspec.structs.replace(NOTED, notes=NOTED.notes[:1]))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_every_text_is_declared_for_its_template(sample: Prompt[Any], library: Library) -> None:
    """Free text in a quoted attribute is an Attribute; text that shares its line with other text is not a Block."""
    data, placement = msgspec.to_builtins(sample), places(type(sample))
    user = library.file(sample.name).fill(library._marked(data, placement, values := []))
    for mark, place in enumerate(_texts(data, placement)):
        for found in re.finditer(rf"(.?)\ue000{mark}\ue001(.?)", user):
            if found[1] == found[2] == '"' and place is not Place.ATTRIBUTE:
                assert re.fullmatch(r"[a-z_]+", values[mark]), "not one of our own words"
            if found[1] or found[2]:
                assert place is not Place.BLOCK, values[mark]


def _texts(value: Any, place: Placement) -> Iterator[Placement]:
    """The place of each text that is not empty, in the order in which they are marked."""
    if isinstance(value, str):
        if value:
            yield place
    elif isinstance(value, dict):
        assert isinstance(place, Mapping)
        for key, inner in value.items():
            yield from _texts(inner, place[key])
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, place)
