"""Field declarations are correct: a text is at the place of its template, and unmarked text loses its line breaks."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from prompts.contracts import PROMPTS, ClassifyQuery, Part, Prompt
from prompts.fields import Block, Place, Placement, Shortened, places, shortened
from prompts.library import FOLDER, Library
from runtime.engines.mlx.prepare import fit
from tests.prompts.samples import SAMPLES

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
    return Library(folder=tmp_path)


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


def test_every_prompt_declares_its_places() -> None:
    for prompt in PROMPTS:
        assert list(places(prompt)) == [field.name for field in msgspec.structs.fields(prompt)]
