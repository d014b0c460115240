"""Which files are left out: by `.groundwireignore` in any folder and by the rules of a root, all in the syntax of gitignore."""

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pathspec import GitIgnoreSpec

from index.documents.archives import is_archive
from index.errors import IndexProblem
from index.snapshot.roots import Root

IGNORE_FILE = ".groundwireignore"
#: Hidden files, and temporary files of editors and browsers. A rule with `!` brings one back.
ALWAYS = (".*", "*~", "~$*", r"\#*#", "*.swp", "*.swx", "*.tmp", "*.bak", "*.part", "*.crdownload", "4913")
_Layer = tuple[str, GitIgnoreSpec]


class Ignoring:
    """The rules of one root. Paths are relative to it; the last rule that matches decides, those of a deeper folder come later,
    and those of the root last of all.
    """

    def __init__(self, root: Root) -> None:
        """Raises IndexProblem for a rule that cannot be understood."""
        self._root = root
        self._include = _rules(root.include, "--include") if root.include else None
        self._exclude = _rules(root.exclude, "--exclude")
        self._folder_rules = cache(self._read_rules)

    def leaves_out(self, path: str, *, folder: bool = False, named: bool = False) -> bool:
        """Whether the file or folder at `path` is left out, its parents not asked. `named`: it was asked for by its name."""
        layers = self._layers(path, named=named)
        spelled = f"{path}/" if folder else path
        for base, rules in reversed(layers):
            decided = rules.check_file(spelled[len(base) :]).include
            if decided is not None:
                if decided:
                    return True
                break
        holds_files = folder or is_archive(path)
        return not holds_files and self._include is not None and not self._include.match_file(path)

    def leaves_out_wherever(self, path: str, *, named: bool = False) -> bool:
        """Whether the file at `path` is left out, be it because of its folder."""
        parts = path.split("/")
        folders = ("/".join(parts[:length]) for length in range(1, len(parts)))
        return any(self.leaves_out(one, folder=True, named=named) for one in folders) or self.leaves_out(
            path, named=named
        )

    def _layers(self, path: str, *, named: bool) -> Sequence[_Layer]:
        layers: list[_Layer] = [] if named else [("", _rules(ALWAYS, ""))]
        base = ""
        for part in ("", *path.split("/")[:-1]):
            base = f"{base}{part}/" if part else base
            result = self._folder_rules(base)
            if result is not None:
                layers.append((base, result))
        return [*layers, ("", self._exclude)]

    def _read_rules(self, base: str) -> GitIgnoreSpec | None:
        path = Path(self._root.folder) / base / IGNORE_FILE
        if not os.path.lexists(path):
            return None
        try:
            return _rules(tuple(path.read_text(encoding="utf-8-sig").splitlines()), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise IndexProblem(f"{path} cannot be read ({error}); nothing is read before its rules are known") from None


@cache
def _rules(patterns: tuple[str, ...], where: str) -> GitIgnoreSpec:
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except (ValueError, re.error) as error:
            raise IndexProblem(f"{where} {pattern}: no rule ({error}); rules are written as in a .gitignore") from None
    return GitIgnoreSpec.from_lines(patterns)
