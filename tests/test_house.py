"""House rules: the four tools (format and lint, types, layers, and pytest itself), and the rules that no tool checks."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from index.languages import FOLDER, LANGUAGES, of
from index.languages.scripts import LETTERS

ROOT = Path(__file__).parent.parent
HERE = Path(sys.executable).parent

TOOLS = {
    "ruff check": [HERE / "ruff", "check", "."],
    "ruff format": [HERE / "ruff", "format", "--check", "."],
    "mypy": [HERE / "mypy"],
    "import-linter": [HERE / "lint-imports", "--no-cache"],
}


@pytest.mark.timeout(280)
@pytest.mark.parametrize("name", TOOLS)
def test_tool_is_content(name: str) -> None:
    done = subprocess.run([str(part) for part in TOOLS[name]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


#: What is searched for words of a language that stand outside its folder.
ROOMS = ("actors", "bus", "index", "prompts", "runtime")


def test_no_language_outside_its_folder() -> None:
    """No string, docstrings aside, is a language's code or name or holds a letter that only some languages are written in."""
    names = {*LANGUAGES, *(of(language).identity.name for language in LANGUAGES)}
    letters = re.compile(f"[{''.join(LETTERS[script] for script in LETTERS if script != 'latin')}]")
    found = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if FOLDER not in path.parents
        for said in strings(ast.parse(path.read_text(encoding="utf-8")))
        if said in names or letters.search(said)
    }
    assert found == set()


def strings(tree: ast.AST) -> Iterator[str]:
    """Every string in the code but the docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


STAGES = {path.stem for path in (ROOT / "actors").glob("*.py")} - {"__init__", "pipeline"}


def imported(path: Path) -> set[str]:
    """Every module that a file imports, and every name that it may import one by."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_a_stage_is_imported_by_the_pipeline_alone() -> None:
    """A test may call a stage by itself; the house knows them as one pipeline."""
    stages = {f"actors.{name}" for name in STAGES}
    house = [path for folder in ("actors", "runtime") for path in (ROOT / folder).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): imported(path) & stages for path in house}
    assert {path for path, names in found.items() if names} == {"actors/pipeline.py"}
    assert found["actors/pipeline.py"] == stages


def test_a_stage_fits_on_a_page() -> None:
    lengths = {name: len((ROOT / f"actors/{name}.py").read_text(encoding="utf-8").splitlines()) for name in STAGES}
    assert {name: length for name, length in lengths.items() if length > 80} == {}
