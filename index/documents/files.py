"""Find the files to read. An unreadable file has its reason; only a missing path stops a build.

Files are left out by the rules of a root and of any folder, all in the syntax of gitignore; and so are folders of programs.
"""

import glob
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from index.documents.access import ACCESS_FILE, is_access_file
from index.documents.archives import is_archive
from index.errors import IndexProblem
from index.readers import KNOWN_UNREAD, Unreadable, by_suffix
from index.snapshot.roots import WHOLE, Plan, Root, innermost
from index.source_paths import printable

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


RECORDS = frozenset((".jsonl", ".ndjson"))
MAX_BYTES = 100 * 1024 * 1024


class FileToRead(NamedTuple):
    """A file to read, at `inside` its root; `problem` is why it will be skipped. `closed`: it cannot be opened now."""

    path: Path
    root: Root
    inside: str
    problem: Unreadable | None = None
    closed: bool = False

    @property
    def source_id(self) -> str:
        return self.root.id_of(self.inside)

    @property
    def origin(self) -> str:
        return printable(str(self.path))


class Finder:
    """Finds the files of a plan, each once, in a fixed order. `index` is the index's own folder, which is never read."""

    def __init__(self, plan: Plan, index: Path | None = None) -> None:
        """Raises IndexProblem for a rule that cannot be understood."""
        self._plan = plan
        self._index = os.path.realpath(index) if index else None
        self._roots = {root.folder: root for root in plan.roots}
        self.rules = {root.folder: Ignoring(root) for root in plan.roots}
        self.left_out: Counter[str] = Counter()  #: by reason, the files and folders that rules leave out

    def find(self) -> Iterator[FileToRead]:
        given: set[Path] = set()
        for root, reads in self._plan.reads:
            for wanted in reads:
                for reply in self._read(root, wanted):
                    if reply.path not in given:
                        given.add(reply.path)
                        yield reply

    def _read(self, root: Root, asked: str) -> Iterator[FileToRead]:
        if os.path.lexists(os.path.join(root.folder, asked)):
            matched: Sequence[str] = (asked,)
        else:
            matched = sorted(glob.glob(asked, root_dir=root.folder, recursive=True))
        for one in matched:
            path = Path(os.path.realpath(os.path.join(root.folder, os.path.dirname(one))), os.path.basename(one))
            owner = innermost(str(path), self._plan.roots) or root
            if one == WHOLE or (path.is_dir() and not path.is_symlink()):
                yield from self._walk(Path(root.folder) if one == WHOLE else path, owner)
            elif root.holds(str(path)):
                yield from self._named(path, owner, by_glob=one != asked)

    def _named(self, path: Path, root: Root, *, by_glob: bool) -> Iterator[FileToRead]:
        inside = path.relative_to(root.folder).as_posix()
        if is_access_file(path.name):
            _check_name(path)
        elif not (why := self.rules[root.folder].leaves_out_wherever(inside, named=not by_glob)):
            yield _look(path, root, inside, named=not by_glob)
        elif by_glob:
            self.left_out[why] += 1
        else:
            yield FileToRead(path, root, inside, Unreadable("left out by the rules for its folder", failed=False))

    def _walk(self, start: Path, root: Root) -> Iterator[FileToRead]:
        shut: list[FileToRead] = []

        def cannot_list(error: OSError) -> None:
            path = Path(error.filename)
            reason = Unreadable(f"cannot be listed ({error.strerror}); what it held stays as it was")
            shut.append(FileToRead(path, root, path.relative_to(root.folder).as_posix(), reason, closed=True))

        owners = {str(start): root}
        for folder, folders, files in os.walk(start, onerror=cannot_list):
            owner = self._roots.get(folder) or owners.pop(folder)
            rules = self.rules[owner.folder]
            base = os.path.relpath(folder, owner.folder)
            base = "" if base == WHOLE else f"{base}/"
            kept: list[str] = []
            for name in sorted(folders):
                path = Path(folder, name)
                if str(path) == self._index:
                    continue
                if why := rules.leaves_out(base + name, folder=True):
                    self.left_out[why] += 1
                elif path.is_symlink():
                    reason = "a link to a folder; links are not followed"
                    yield FileToRead(path, owner, base + name, Unreadable(reason, failed=False))
                else:
                    kept.append(name)
                    owners[str(path)] = owner
            folders[:] = kept
            for name in sorted(files):
                if is_access_file(name):
                    _check_name(Path(folder, name))
                elif why := rules.leaves_out(base + name):
                    self.left_out[why] += 1
                else:
                    yield _look(Path(folder, name), owner, base + name)
            yield from shut
            shut.clear()
        yield from shut


def _check_name(path: Path) -> None:
    """Raises IndexProblem for rules that would not be found under the name that their file has."""
    if path.name != ACCESS_FILE:
        raise IndexProblem(
            f"{path}: name it {ACCESS_FILE}; it limits documents to groups, and counts under this name only"
        )


def _look(path: Path, root: Root, inside: str, *, named: bool = False) -> FileToRead:
    if path.is_symlink() and not named:
        target = path.resolve()
        if not root.holds(str(target)):
            return FileToRead(path, root, inside, Unreadable("a link that leaves the folder", failed=False))
        if not target.exists():
            return FileToRead(path, root, inside, Unreadable("a link to nothing", failed=False))
    problem = _problem(path)
    return FileToRead(path, root, inside, problem, closed=isinstance(problem, _Closed))


class _Closed(Unreadable):
    """It may be read another time."""


def _problem(path: Path) -> Unreadable | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return Unreadable("gone before it could be read", failed=False)
    except OSError as error:
        return _Closed(f"cannot be read ({error.strerror}); what was read of it stays as it was")
    if not stat.S_ISREG(status.st_mode):
        return Unreadable("not a regular file", failed=False)
    if status.st_size == 0:
        return unsupported(path.name) or Unreadable("empty", failed=False)
    if path.suffix.lower() in RECORDS or is_archive(path.name):
        return None
    return unsupported(path.name) or too_large(status.st_size)


def unsupported(name: str) -> Unreadable | None:
    suffix = Path(name).suffix.lower()
    if suffix in RECORDS or suffix in by_suffix() or is_archive(name):
        return None
    if suffix in KNOWN_UNREAD:
        return Unreadable(f"not read: {KNOWN_UNREAD[suffix]}", failed=False)
    return Unreadable(f"unsupported file type {suffix or '(no suffix)'}", failed=False)


def too_large(size: int) -> Unreadable | None:
    if size <= MAX_BYTES:
        return None
    return Unreadable(f"{size // 1024**2} MB, over the limit of {MAX_BYTES // 1024**2} MB; split it")
