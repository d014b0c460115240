"""The folders that an index is built from, which it remembers: they give each file the id that its document has for ever.

An id is the file's path below its root, after the root's prefix. One root has none; several are distinguished by their names, and
by as much of the path before it as it takes.
"""

import glob
import os
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from index.errors import IndexProblem
from index.model import URL_SAFE
from index.source_paths import printable, unwritable

WHOLE = "."
#: What a site generator makes a page of, so that its address has no suffix; other files are served under their own names.
_PAGES = frozenset((".md", ".mdx", ".markdown", ".html", ".htm", ".xhtml", ".rst", ".adoc", ".asciidoc", ".ipynb"))
_FOLDER_PAGES = frozenset(("readme", "index"))


class Root(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A folder, by its real path. `reads` are the paths and globs in it that were asked for, `.` for all of it.

    `include` and `exclude` are in the syntax of gitignore; `base_url` is where the folder is published.
    """

    folder: str
    prefix: str = ""
    reads: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    base_url: str = ""

    def id_of(self, inside: str) -> str:
        return self.prefix + printable(inside)

    def url_of(self, inside: str) -> str:
        """Where the file at this path in the folder is published; empty when that is not known."""
        if not self.base_url:
            return ""
        path = PurePosixPath(inside)
        if path.suffix.lower() in _PAGES:
            folder = "" if path.parent == PurePosixPath(".") else f"{path.parent}/"
            inside = folder if path.stem.lower() in _FOLDER_PAGES else f"{folder}{path.stem}"
        return f"{self.base_url.rstrip('/')}/{quote(os.fsencode(inside), safe=URL_SAFE)}"

    def holds(self, path: str) -> bool:
        """Whether this real path lies in the folder."""
        return path == self.folder or path.startswith(self.folder.rstrip("/") + "/")


class Rules(NamedTuple):
    """The options for the named folders; None keeps the remembered value, empty ends it."""

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    base_url: str | None = None


NO_RULES = Rules()


class Plan(NamedTuple):
    """The roots to remember, and those to read now, each with what to read of it."""

    roots: tuple[Root, ...]
    reads: tuple[tuple[Root, tuple[str, ...]], ...]


class _PathArgument(NamedTuple):
    """One path of the command line: `inside` the folder `base`, both real and spelled as on disk."""

    base: str
    inside: str
    kind: str


def plan(patterns: Sequence[str], known: Sequence[Root], rules: Rules = NO_RULES, *, anew: bool) -> Plan:
    """Find the root of every given folder, file and glob. Raises IndexProblem for a path that does not exist.

    `anew`: the index gets these paths and nothing else. A folder is then a root of its own, under the prefix that it has
    had if it was one before, and roots that nothing is read from are forgotten. Otherwise what lies in a known root belongs to it.
    """
    disk = _Disk()
    given = [disk.look_up(pattern) for pattern in patterns]
    whole = [one.base for one in given if one.kind == "folder"]
    if anew:
        known = [
            root for root in known if not any(_inside(root.folder, base) and root.folder != base for base in whole)
        ]
    fresh = _fresh_folders(given, known, anew=anew)
    kept = [root for root in known if not anew or any(_owner(one, known, fresh, anew=anew) is root for one in given)]
    made = _named(fresh, kept)
    roots = [*kept, *made]
    reads: dict[str, list[str]] = {}
    for one in given:
        owner = _owner(one, known, fresh, anew=anew) or innermost(one.base, made)
        assert owner is not None
        reads.setdefault(owner.folder, []).append(_join(os.path.relpath(one.base, owner.folder), one.inside))
    settled: dict[str, Root] = {}
    for root in roots:
        inside = tuple(dict.fromkeys(reads.get(root.folder, ())))
        settled[root.folder] = _remember(root, inside, rules, anew=anew, several=len(reads) > 1) if inside else root
    return Plan(tuple(settled.values()), tuple((settled[at], tuple(dict.fromkeys(some))) for at, some in reads.items()))


class _Disk:
    """Paths as the file system spells them; each folder is listed once."""

    def __init__(self) -> None:
        self.real = cache(self._real)
        self._names = cache(self._list)

    def look_up(self, pattern: str) -> _PathArgument:
        path = Path(pattern)
        if pattern and path.is_dir():
            return _PathArgument(self.real(path), WHOLE, "folder")
        if pattern and os.path.lexists(path):
            return _PathArgument(self.real(path.parent), self._spelled(path), "file")
        if not glob.has_magic(pattern) or not glob.glob(pattern, recursive=True):
            raise IndexProblem(f"no file or folder {pattern or '(no name)'}; check the path")
        at = next(at for at, part in enumerate(path.parts) if glob.has_magic(part))
        return _PathArgument(self.real(Path(*path.parts[:at])), str(PurePosixPath(*path.parts[at:])), "glob")

    def _real(self, folder: Path) -> str:
        """The folder without links and dots."""
        real = Path(os.path.realpath(folder))
        spelled = Path(real.anchor)
        for part in real.parts[1:]:
            spelled /= self._spelled(spelled / part)
        if any(map(unwritable, str(spelled))):
            name = printable(str(spelled))
            raise IndexProblem(f"the name of the folder {name} has control characters; rename it, or give one above it")
        return str(spelled)

    def _spelled(self, path: Path) -> str:
        """The last name of the path in its folder's own spelling, where the file system takes several for the same."""
        names = self._names(path.parent)
        if not names or path.name in names:
            return path.name
        alike = _folded(path.name)
        same = (name for name in names if _folded(name) == alike and path.samefile(path.parent / name))
        return next(same, path.name)

    def _list(self, folder: Path) -> frozenset[str]:
        try:
            return frozenset(os.listdir(folder))
        except OSError:
            return frozenset()  # a folder that can be passed but not listed


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _inside(path: str, folder: str) -> bool:
    return Root(folder=folder).holds(path)


def innermost(path: str, roots: Iterable[Root]) -> Root | None:
    """Of the roots that hold a real path the innermost."""
    return max((root for root in roots if root.holds(path)), key=lambda root: len(root.folder), default=None)


def _owner(one: _PathArgument, known: Sequence[Root], fresh: Sequence[str], *, anew: bool) -> Root | None:
    """The known root that this belongs to; None for a new one."""
    if anew and one.kind == "folder":
        return next((root for root in known if root.folder == one.base), None)
    deepest = innermost(one.base, known)
    nearer = [folder for folder in fresh if _inside(one.base, folder) and deepest and _inside(folder, deepest.folder)]
    return None if nearer else deepest


def _fresh_folders(given: Sequence[_PathArgument], known: Sequence[Root], *, anew: bool) -> list[str]:
    """The folders that become roots now: those given, where each glob begins, and the common folder of all other files."""
    new = [one for one in given if _owner(one, known, (), anew=anew) is None]
    folders = {one.base for one in new if one.kind != "file"}
    loose = {one.base for one in new if one.kind == "file" and not any(_inside(one.base, folder) for folder in folders)}
    if loose:
        folders.add(os.path.commonpath(loose))
    return sorted(folder for folder in folders if not any(_inside(folder, other) for other in folders - {folder}))


def _named(folders: Sequence[str], kept: Sequence[Root]) -> list[Root]:
    """The new roots with their prefixes: as much of the end of each path as distinguishes it."""
    if len(folders) == 1 and not kept:
        return [Root(folder=folders[0])]
    made: list[Root] = []
    for folder in folders:
        parts = PurePosixPath(folder).parts[1:] or ("root",)
        others = [PurePosixPath(other).parts[1:] for other in folders if other != folder]
        prefixes = [printable("/".join(parts[-length:])) + "/" for length in range(1, len(parts) + 1)]
        alone = [
            prefix
            for length, prefix in enumerate(prefixes, 1)
            if not any(other[-length:] == parts[-length:] for other in others)
        ] or prefixes[-1:]
        numbered = (f"{prefixes[-1].rstrip('/')}-{number}/" for number in range(2, 10_000))
        prefix = next(prefix for prefix in (*alone, *numbered) if _is_free(prefix, [*kept, *made]))
        made.append(Root(folder=folder, prefix=prefix))
    return made


def _is_free(prefix: str, roots: Iterable[Root]) -> bool:
    """Whether no file of these roots has or can be seen to get an id that begins like this."""
    for root in roots:
        shared = root.prefix and (root.prefix.startswith(prefix) or prefix.startswith(root.prefix))
        if shared or (not root.prefix and os.path.lexists(os.path.join(root.folder, prefix.rstrip("/")))):
            return False
    return True


def _join(folder: str, inside: str) -> str:
    path = inside if folder == WHOLE else folder if inside == WHOLE else f"{folder}/{inside}"
    # A name that is not UTF-8 cannot be written down; a wildcard for one character finds it again.
    return "".join("?" if "\ud800" <= c <= "\udfff" else c for c in path)


def _remember(root: Root, asked: tuple[str, ...], rules: Rules, *, anew: bool, several: bool) -> Root:
    reads = asked if anew else (*root.reads, *asked)
    base_url = rules.base_url
    if base_url and several and root.prefix:
        base_url = f"{base_url.rstrip('/')}/{root.prefix.rstrip('/')}"
    return msgspec.structs.replace(
        root,
        reads=(WHOLE,) if WHOLE in reads else tuple(dict.fromkeys(reads)),
        include=root.include if rules.include is None else tuple(filter(None, rules.include)),
        exclude=root.exclude if rules.exclude is None else tuple(filter(None, rules.exclude)),
        base_url=root.base_url if base_url is None else base_url,
    )
