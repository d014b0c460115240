"""Everything Groundwire knows about languages: a folder per language, a TOML file per subject, and the reader that checks them.

Input: the code of one of `LANGUAGES` (`of`), or a text (`detection.detect`). Output: its tables, or its code. Guarantees:
every language has the same tables, and a missing or unknown file or key is rejected by name. The other modules are functions over
these tables: words, stems, folding, scripts, numerals, negation.

The shape of each file is the field of the same name in `tables`. Code asks for a table and never for a language by name, except
for `FALLBACK`, which is used when a text is in none of these languages. Imports no other package.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from index.languages.tables import Language
from index.languages.toml_check import nearest, problems

FOLDER: Final = Path(__file__).parent
#: Codes of ISO 639-1, in alphabetical order.
LANGUAGES: Final = tuple(sorted(path.name for path in FOLDER.iterdir() if len(path.name) == 2 and path.is_dir()))
#: The language of a text without letters.
UNDETERMINED: Final = "und"
FALLBACK: Final = "en"


class LanguageProblem(Exception):
    """A language with an incomplete or invalid folder. One line per problem: the file, the key."""


@cache
def of(language: str) -> Language:
    """The tables of one of LANGUAGES. Raises LanguageProblem."""
    return read(FOLDER / language)


def spoken(language: str) -> Language:
    """The tables for speaking to a person; those of FALLBACK for a language that is not ours. Raises LanguageProblem."""
    return of(language if language in LANGUAGES else FALLBACK)


def name_of(language: str, otherwise: str = "") -> str:
    """The language's English name; `otherwise`, or the code itself, for a code that is not in LANGUAGES."""
    return of(language).identity.name if language in LANGUAGES else otherwise or language


def check() -> None:
    """Read every language now, so that no problem turns up later. Raises LanguageProblem."""
    for language in LANGUAGES:
        of(language)


def read(folder: Path) -> Language:
    """The tables in a folder. Raises LanguageProblem with every file and key that is missing, unknown or of the wrong type."""
    subjects = {field.name: field.type for field in msgspec.structs.fields(Language)}
    there = {path.stem: path for path in folder.glob("*.toml")}
    results = [f"{folder.name}: has no {name}.toml, which every language has" for name in subjects if name not in there]
    known = ", ".join(subjects)
    results += [
        f"{folder.name}: {name}.toml is not a known file; there are {known}" for name in there if name not in subjects
    ]
    tables: dict[str, object] = {}
    for name, struct in subjects.items():
        if name not in there:
            continue
        try:
            raw = tomllib.loads(there[name].read_text(encoding="utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            results.append(f"{folder.name}/{name}.toml: is not TOML: {error}")
            continue
        try:
            tables[name] = msgspec.convert(raw, struct, strict=True)
        except msgspec.ValidationError:
            results += [f"{folder.name}/{name}.toml: {problem}" for problem in problems(raw, struct)]
            continue
        if isinstance(tables[name], dict) and folder != FOLDER / FALLBACK:
            results += [f"{folder.name}/{name}.toml: {each}" for each in _other_keys(raw, getattr(of(FALLBACK), name))]
    if results:
        raise LanguageProblem("\n".join(results))
    return Language(**tables)  # type: ignore[arg-type]  # each was converted to its field's type


def _other_keys(raw: dict[str, Any], ours: dict[str, Any], path: str = "") -> Iterator[str]:
    """What keys a table lacks, or has too many, beside FALLBACK's."""
    for key in sorted(ours.keys() ^ raw.keys()):
        yield f"{path}{key}: " + ("is missing" if key in ours else f"unknown key{nearest(key, ours)}")
    for key in ours.keys() & raw.keys():
        if isinstance(ours[key], dict):
            yield from _other_keys(raw[key], ours[key], f"{path}{key}.")


def every[T](part: Callable[[Language], Iterable[T]]) -> list[T]:
    """What `part` returns for each language, in one list."""
    return [one for language in LANGUAGES for one in part(of(language))]


@cache
def pattern(pieces: str | tuple[str, ...], flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """One pattern from a table's alternatives, without empty ones; it never matches when there are none."""
    pieces = (pieces,) if isinstance(pieces, str) else pieces
    return re.compile("|".join(part for part in pieces if part) or r"(?!)", flags)


def union(part: Callable[[Language], str | Iterable[str]], flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """One pattern from what `part` returns for each language, a pattern or several."""
    parts: list[str] = []
    for language in LANGUAGES:
        given = part(of(language))
        parts += [given] if isinstance(given, str) else given
    return pattern(tuple(parts), flags)
