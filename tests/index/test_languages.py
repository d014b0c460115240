"""A language is a folder with everything that every language must have, and nothing unknown."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import inspect

from index.languages import FALLBACK, FOLDER, LANGUAGES, LanguageProblem, of, read
from index.languages.tables import Language


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a language, to be spoilt."""
    return Path(shutil.copytree(FOLDER / FALLBACK, tmp_path / "xx"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_table(language: str) -> None:
    assert of(language) == read(FOLDER / language)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "notices.toml").unlink()
    with pytest.raises(LanguageProblem, match=r"xx: has no notices\.toml"):
        read(folder)


def test_an_unknown_file_is_named(folder: Path) -> None:
    (folder / "notes.toml").write_text("", encoding="utf-8")
    with pytest.raises(LanguageProblem, match=r"xx: notes\.toml is not a known file; there are .*notices"):
        read(folder)


def test_unknown_key_suggests_the_nearest(folder: Path) -> None:
    path = folder / "notices.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("greeting =", "greting ="), encoding="utf-8")
    with pytest.raises(
        LanguageProblem, match=r"xx/notices\.toml: declined\.greting: unknown key; did you mean 'greeting'\?"
    ):
        read(folder)


def test_every_table_refuses_unknown_keys() -> None:
    subjects = inspect.type_info(Language)
    assert isinstance(subjects, inspect.StructType)
    tables = [table for field in subjects.fields for table in structs_in(field.type)]
    assert len(tables) > len(subjects.fields)
    assert [table.cls for table in tables if not table.forbid_unknown_fields] == []


def structs_in(found: inspect.Type) -> Iterator[inspect.StructType]:
    if isinstance(found, inspect.StructType):
        yield found
        for field in found.fields:
            yield from structs_in(field.type)
    elif isinstance(found, inspect.VarTupleType):
        yield from structs_in(found.item_type)
    elif isinstance(found, inspect.DictType):
        yield from structs_in(found.value_type)
    elif isinstance(found, inspect.UnionType):
        for choice in found.types:
            yield from structs_in(choice)


def test_invalid_toml_is_reported_with_its_place(folder: Path) -> None:
    (folder / "notices.toml").write_text("[reasons\n", encoding="utf-8")
    with pytest.raises(LanguageProblem, match=r"xx/notices\.toml: is not TOML"):
        read(folder)


def test_all_errors_are_reported_at_once(folder: Path) -> None:
    (folder / "notices.toml").unlink()
    (folder / "notes.toml").write_text("", encoding="utf-8")
    with pytest.raises(LanguageProblem) as caught:
        read(folder)
    assert len(str(caught.value).splitlines()) == 2
