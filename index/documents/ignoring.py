"""Which files are left out, by the rules of a root and of any folder, all in the syntax of gitignore, and folders of programs."""

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pathspec import GitIgnoreSpec

from index.documents.archives import is_archive
from index.errors import IndexProblem
from index.snapshot.roots import Root

#: The rules of a folder; those of the last of these count more.
IGNORE_FILES = (".gitignore", ".groundwireignore")
#: Hidden files, and temporary files of editors and browsers. A rule with `!` brings one back.
ALWAYS = (".*", "*~", "~$*", r"\#*#", "*.swp", "*.swx", "*.tmp", "*.bak", "*.part", "*.crdownload", "4913")
#: Folders that programs fill, each with the files of which one is in the folder or beside it; without files, always.
GENERATED = {
    "node_modules": (),
    "__pycache__": (),
    "bower_components": ("bower.json",),
    "venv": ("pyvenv.cfg",),
    "env": ("pyvenv.cfg",),
    "target": ("Cargo.toml", "Cargo.lock", "pom.xml", "build.sbt"),
    "vendor": ("go.mod", "composer.json", "Gemfile"),
}
#: The folder that a layer's rules are relative to, the rules, and the words for them in a report.
_Layer = tuple[str, GitIgnoreSpec, str]


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

    def leaves_out(self, path: str, *, folder: bool = False, named: bool = False) -> str:
        """Why the file or folder at `path` is left out, its parents not asked; empty where it is not. `named`: it was asked for by
        its name.
        """
        layers = self._layers(path, named=named)
        spelled = f"{path}/" if folder else path
        for base, rules, why in reversed(layers):
            decided = rules.check_file(spelled[len(base) :]).include
            if decided is not None:
                if decided:
                    return why
                break
        else:
            if folder and not named and self._is_generated(path):
                return f"{path.rpartition('/')[2]} folders"
        if folder or is_archive(path) or self._include is None or self._include.match_file(path):
            return ""
        return "--include"

    def _is_generated(self, path: str) -> bool:
        markers = GENERATED.get(path.rpartition("/")[2])
        if not markers:
            return markers is not None
        folder = Path(self._root.folder, path)
        return any((place / marker).exists() for place in (folder, folder.parent) for marker in markers)

    def leaves_out_wherever(self, path: str, *, named: bool = False) -> str:
        """Why the file at `path` is left out, be it because of its folder; empty where it is not."""
        parts = path.split("/")
        folders = ("/".join(parts[:length]) for length in range(1, len(parts)))
        reasons = (self.leaves_out(one, folder=True, named=named) for one in folders)
        return next(filter(None, reasons), "") or self.leaves_out(path, named=named)

    def _layers(self, path: str, *, named: bool) -> Sequence[_Layer]:
        layers: list[_Layer] = [] if named else [("", _rules(ALWAYS, ""), "hidden or temporary")]
        base = ""
        for part in ("", *path.split("/")[:-1]):
            base = f"{base}{part}/" if part else base
            layers += self._folder_rules(base)
        return [*layers, ("", self._exclude, "--exclude")]

    def _read_rules(self, base: str) -> list[_Layer]:
        paths = [Path(self._root.folder) / base / name for name in IGNORE_FILES]
        try:
            return [
                (base, _rules(tuple(path.read_text(encoding="utf-8-sig").splitlines()), str(path)), path.name)
                for path in paths
                if os.path.lexists(path)
            ]
        except (OSError, UnicodeDecodeError) as error:
            raise IndexProblem(f"{error}; nothing is read before the rules of a folder are known") from None


@cache
def _rules(patterns: tuple[str, ...], where: str) -> GitIgnoreSpec:
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except (ValueError, re.error) as error:
            raise IndexProblem(f"{where} {pattern}: no rule ({error}); rules are written as in a .gitignore") from None
    return GitIgnoreSpec.from_lines(patterns)
