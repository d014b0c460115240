"""The question sets of tests/questions: whole, short enough to publish, and laid out from the repositories that they name."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from runtime.commands.eval_questions import checked
from runtime.measure.lines import read
from runtime.measure.questions import GoldQuestion
from tests.bench.fitting.examples import SetLine, gold_of
from tests.questions.lay import HERE, Corpus, NoCommit, clone_of, corpora, git, lay, matcher

SETS = ("a", "b", "c", "d", "e")
#: The sets over folders of this project.
OWN = ("f", "g")
LONGEST_GOLD = 80


def questions(name: str) -> list[GoldQuestion]:
    file = HERE / f"{name}.jsonl"
    return checked([gold_of(line, name) for line in read(file, SetLine)], file)


@pytest.mark.parametrize("name", SETS)
def test_sets_quote_briefly_from_named_corpora(name: str) -> None:
    asked = questions(name)
    collections = {corpus.collection for corpus in corpora() if corpus.question_set == name}
    assert {one.collection for one in asked} == collections
    said = [text for one in asked for text in (*one.gold, *one.gold_also, *(turn.a for turn in one.history))]
    assert max(map(len, said)) <= LONGEST_GOLD
    assert any(one.answerable for one in asked)
    assert any(not one.answerable for one in asked)


def bare(text: str) -> str:
    """Letters and digits alone: a line may break inside a gold, and marks may stand there."""
    return re.sub(r"[\W_]+", "", text)


@pytest.mark.parametrize("name", OWN)
def test_own_folders_say_what_their_questions_quote(name: str) -> None:
    asked = questions(name)
    folders = {one.collection: HERE / "own" / one.collection for one in asked}
    said = {
        name: bare("".join(path.read_text("utf-8") for path in each.rglob("*.*"))) for name, each in folders.items()
    }
    for one in asked:
        assert not one.answerable or any(bare(gold) in said[one.collection] for gold in one.gold), one.id
    assert sum(not one.answerable for one in asked) > len(asked) / 4


def test_sets_are_small_and_share_no_collection() -> None:
    assert sum(path.stat().st_size for path in HERE.iterdir() if path.is_file()) < 600_000
    found = [collection for name in SETS + OWN for collection in {one.collection for one in questions(name)}]
    assert len(found) == len(set(found))


def test_every_corpus_states_its_licence() -> None:
    assert [corpus.name for corpus in corpora() if not corpus.licence or "none" in corpus.licence.split()] == []


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/a/b/c.md", True),
        ("docs/*.md", "docs/a/b.md", False),
        ("docs/**", "docs/a/b.txt", True),
        ("*.md", "a.mdx", False),
        ("+a (b)/*.md", "+a (b)/c.md", True),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    assert (matcher(glob).fullmatch(path) is not None) is matches


@pytest.fixture
def published(tmp_path: Path) -> Corpus:
    """A corpus of two files from a repository that changed after its commit."""
    repository = tmp_path / "host" / "owner" / "name"
    (repository / "docs" / "deep").mkdir(parents=True)
    git(repository, "init", "--quiet")
    (repository / "docs" / "a.md").write_text("first")
    (repository / "docs" / "deep" / "b.md").write_text("second")
    (repository / "docs" / "left.md").write_text("third")
    (repository / "docs" / "link.md").symlink_to("a.md")
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    git(repository, "add", ".")
    git(repository, *person, "commit", "--quiet", "-m", "one")
    commit = git(repository, "rev-parse", "HEAD").decode().strip()
    (repository / "docs" / "a.md").write_text("changed")
    git(repository, *person, "commit", "--quiet", "-am", "two")
    return Corpus(
        name="corpus",
        question_set="x",
        collection="shop",
        repository="owner/name",
        commit=commit,
        globs=("docs/**/*.md",),
        exclude=("docs/left.md",),
        files=2,
        licence="MIT",
    )


def test_corpus_is_fetched_at_its_commit(published: Corpus, tmp_path: Path) -> None:
    host = f"file://{tmp_path}/host/"
    repository = clone_of(published, tmp_path / "clones", host)
    assert clone_of(published, tmp_path / "clones", "file:///nowhere/") == repository  # nothing is fetched twice
    assert lay(published, repository, tmp_path / "out") == published.files
    laid = tmp_path / "out" / "shop" / "corpus" / "docs"
    assert (laid / "a.md").read_text() == "first"
    assert sorted(path.name for path in laid.rglob("*") if path.is_file()) == ["a.md", "b.md"]


def test_unknown_commit_is_named(published: Corpus, tmp_path: Path) -> None:
    gone = msgspec.structs.replace(published, commit="0" * 40)
    with pytest.raises(NoCommit, match="owner/name 000000000000: "):
        clone_of(gone, tmp_path / "clones", f"file://{tmp_path}/host/")


def test_unreachable_repository_is_one_line(tmp_path: Path) -> None:
    clones, out = str(tmp_path / "clones"), str(tmp_path / "out")
    command = [sys.executable, "-m", "tests.questions.lay", "--host", f"file://{tmp_path}/", clones, out, "e"]
    done = subprocess.run(command, cwd=HERE.parent.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "restic/restic" in done.stderr
    assert "Traceback" not in done.stderr
