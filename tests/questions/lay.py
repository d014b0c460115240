"""Lay out the documents that the question sets of this folder are about, from git repositories at the commits named.

    python -m tests.questions.lay CLONES OUT [SET …]

CLONES holds each repository as OWNER/NAME; a commit that is not there is fetched by `git` alone, without its history. The
files go under OUT/COLLECTION/CORPUS; build an index from each collection's folder.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
HOST = "https://github.com/"
#: How many paths one call of git takes.
_AT_ONCE = 200


class Corpus(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a repository: the files that match one of `globs` and none of `exclude`; `files` is how many there are."""

    name: str
    question_set: str
    collection: str
    repository: str
    commit: str
    globs: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    files: int
    licence: str


class NoCommit(Exception):
    """A repository does not have the commit; the message is git's."""


def corpora(source: Path = HERE / "corpora.toml") -> list[Corpus]:
    return msgspec.convert(tomllib.loads(source.read_text(encoding="utf-8"))["corpus"], list[Corpus])


def git(repository: Path, *arguments: str) -> bytes:
    """What git prints. Raises subprocess.CalledProcessError."""
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def has(repository: Path, commit: str) -> bool:
    command = ["git", "-C", str(repository), "cat-file", "-e", f"{commit}^{{commit}}"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def clone_of(corpus: Corpus, clones: Path, host: str) -> Path:
    """A repository that has the corpus's commit. Raises NoCommit."""
    repository = clones / corpus.repository
    try:
        if not repository.is_dir():
            repository.mkdir(parents=True)
            git(repository, "init", "--bare", "--quiet")
        if not has(repository, corpus.commit):
            ref = f"+{corpus.commit}:refs/question-sets/{corpus.commit}"
            git(repository, "fetch", "--quiet", "--depth", "1", f"{host}{corpus.repository}", ref)
    except subprocess.CalledProcessError as error:
        raise NoCommit(f"{corpus.repository} {corpus.commit[:12]}: {' '.join(error.stderr.decode().split())}") from None
    return repository


def matcher(glob: str) -> re.Pattern[str]:
    """`**` crosses folders, `*` does not."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*\*|\*)", glob)))


def paths(corpus: Corpus, repository: Path) -> list[str]:
    """The paths of its files, in git's order."""
    take, leave = ([matcher(glob) for glob in globs] for globs in (corpus.globs, corpus.exclude))
    names = git(repository, "ls-tree", "-r", "-z", "--name-only", corpus.commit).decode().split("\0")
    return [
        name for name in names if any(m.fullmatch(name) for m in take) and not any(m.fullmatch(name) for m in leave)
    ]


def lay(corpus: Corpus, repository: Path, out: Path) -> int:
    """Write the files of a corpus; how many they are. Links are left out."""
    target = out / corpus.collection / corpus.name
    target.mkdir(parents=True, exist_ok=True)
    wanted = [f":(literal){path}" for path in paths(corpus, repository)]
    for start in range(0, len(wanted), _AT_ONCE):
        archive = git(repository, "archive", corpus.commit, "--", *wanted[start : start + _AT_ONCE])
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                if member.isfile():
                    tar.extract(member, target, filter="data")
    return sum(path.is_file() for path in target.rglob("*"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--host", default=HOST, help="where missing repositories are fetched from")
    given = parser.parse_args()
    wrong = 0
    for corpus in corpora():
        if given.sets and corpus.question_set not in given.sets:
            continue
        try:
            found = lay(corpus, clone_of(corpus, given.clones, given.host), given.out)
        except NoCommit as error:
            wrong += 1
            print(error, file=sys.stderr)
            continue
        wrong += found != corpus.files
        print(f"{corpus.collection}/{corpus.name}: {found} files" + ("" if found == corpus.files else ", wrong"))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
