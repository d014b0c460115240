"""Which groups may see a document, by the `access.toml` in its folder and in every folder above it.

    [groups]
    "finance/**" = ["finance", "board"]
    "*.draft.md" = "editors"

Patterns are those of a .gitignore, seen from the file's folder, in capitals or not. Every rule with groups narrows: a document is
for the groups that all have named, each rule that matches it and the document itself. So the order does not matter, and nothing
that is added shows more. The index does not begin before every rule is understood.
"""

import os
import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta
from pathspec import GitIgnoreSpec

from index.errors import IndexProblem
from index.languages.toml_check import problems
from index.model import Groups, group_name, narrowed
from index.source_paths import printable

ACCESS_FILE = "access.toml"

_Name = Annotated[str, Meta(min_length=1, max_length=200)]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    groups: dict[str, _Name | Annotated[list[_Name], Meta(min_length=1)]]


class Rule(NamedTuple):
    """A line of an access.toml, `where`."""

    where: Path
    pattern: str
    groups: tuple[str, ...]
    spec: GitIgnoreSpec


def is_access_file(name: str) -> bool:
    """Whether a file of this name is one, however its letters are written; such a file is never a document."""
    return name.casefold() == ACCESS_FILE


class AccessRules:
    """The rules for any files; each access.toml is read once. `used` are the rules that have matched."""

    def __init__(self) -> None:
        self.used: set[int] = set()
        self._read: dict[Path, tuple[Rule, ...]] = {}
        self._above = cache(self._find)

    def check(self, folders: Iterable[Path]) -> None:
        """Read the rules for these folders. Raises IndexProblem for a rule that cannot be understood."""
        for folder in folders:
            self._above(folder)

    def groups_for(self, path: Path, member: str = "") -> Groups:
        """The groups that the rules name for a file, or for a member of it when it is an archive. Raises IndexProblem.

        The rules for a link are those of both places.
        """
        positions = [path, path.resolve()] if path.is_symlink() else [path]
        results = [
            rule for position in positions for rule in self._above(position.parent) if _matches(rule, position, member)
        ]
        self.used.update(map(id, results))
        return narrowed(rule.groups for rule in results)

    def unused(self) -> list[str]:
        """The rules that have matched nothing, a line each."""
        return [
            f'{rule.where}: "{rule.pattern}" matches no document'
            for rules in self._read.values()
            for rule in rules
            if id(rule) not in self.used
        ]

    def _find(self, folder: Path) -> tuple[Rule, ...]:
        above = self._above(folder.parent) if folder != folder.parent else ()
        if folder not in self._read:
            self._read[folder] = _rules(folder / ACCESS_FILE)
        return (*above, *self._read[folder])


def _matches(rule: Rule, path: Path, member: str) -> bool:
    inside = path.relative_to(rule.where.parent).as_posix()
    return rule.spec.match_file(_folded(printable(f"{inside}/{member}" if member else inside)))


def _folded(path: str) -> str:
    """As file systems compare that know no capitals and one spelling of an accent: a rule matches rather too much."""
    return unicodedata.normalize("NFC", path).casefold()


def _rules(path: Path) -> tuple[Rule, ...]:
    if not os.path.lexists(path):
        return ()
    if not path.is_file():
        raise _refused(path, "is no file")
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(path, str(error)) from None
    if wrong := problems(raw, _File):
        raise _refused(path, wrong[0])
    table = msgspec.convert(raw, _File).groups
    if not table:
        raise _refused(path, "groups: names no rule; delete the file if everybody may see everything")
    return tuple(_rule(path, pattern, [value] if isinstance(value, str) else value) for pattern, value in table.items())


def _rule(path: Path, pattern: str, said: list[str]) -> Rule:
    names = tuple(dict.fromkeys(map(group_name, said)))
    if any(not name or "," in name for name in names):
        raise _refused(path, f'"{pattern}": a group\'s name is not blank and holds no comma')
    if not pattern.strip("/ ") or pattern[0] in "!#" or {".", ".."} & {*pattern.split("/")} or "\\" in pattern:
        raise _refused(
            path, f'"{pattern}": no pattern; write it as seen from this folder, like "finance/**" or "*.pdf"'
        )
    try:
        spec = GitIgnoreSpec.from_lines([_folded(printable(pattern))])
    except (ValueError, re.error) as error:
        raise _refused(path, f'"{pattern}": no pattern ({error})') from None
    return Rule(path, pattern, names, spec)


def _refused(path: Path, what: str) -> IndexProblem:
    return IndexProblem(f"{path}: {what}; nothing is indexed before it is known who may see it")
