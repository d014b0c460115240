"""House rules: the four tools (format and lint, types, layers, and pytest itself), and the rules that no tool checks."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from index.languages import FOLDER, LANGUAGES, of
from index.languages.characters import LETTERS
from prompts.profiles import AgentOverride, Profile, Retrieval, Scope
from runtime import settings
from tests.bench.bench_interfaces import FEATURES

HOUSE = ("actors", "bus", "index", "prompts", "runtime")


def sources() -> Iterator[Path]:
    for folder in HOUSE:
        yield from (ROOT / folder).rglob("*.py")


@pytest.fixture(scope="module")
def attributes() -> set[str]:
    """Every name that the code reads of some object."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources())
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in nodes if isinstance(node.ctx, ast.Load)}


@pytest.mark.parametrize(
    "struct",
    [settings.Settings, *settings.sections().values(), Profile, Retrieval, Scope, AgentOverride],
    ids=lambda struct: struct.__name__,
)
def test_every_key_is_read(struct: type[msgspec.Struct], attributes: set[str]) -> None:
    names = {field.name for field in msgspec.structs.fields(struct)}
    unread = sorted(names - attributes)
    assert not unread, f"nothing reads {', '.join(unread)} of {struct.__name__}"


#: Modules other than runtime/settings.py that read the environment, with the reason.
MAY_TOUCH_THE_ENVIRONMENT = {
    "runtime/client-library/groundwire/client/client.py": "the key, for programs, which have no settings of ours",
    "index/reading/pool.py": "it is handed on to the reading processes, with one thread for BLAS",
    "runtime/terminal.py": "whether `uv run` started the program, which printed commands repeat",
    "index/java/jvm.py": "JAVA_HOME, the threads of BLAS, which libraries read there, and the user's cache folder",
}


def test_one_module_reads_the_environment() -> None:
    touching = {
        str(path.relative_to(ROOT))
        for path in sources()
        if any(word in path.read_text(encoding="utf-8") for word in ("os.environ", "getenv", "envvar="))
    }
    assert touching - MAY_TOUCH_THE_ENVIRONMENT.keys() == {"runtime/settings.py"}


ROOT = Path(__file__).parent.parent
HERE = Path(sys.executable).parent

TOOLS = {
    "ruff check": [HERE / "ruff", "check", "."],
    "ruff format": [HERE / "ruff", "format", "--check", "."],
    "mypy": [HERE / "mypy"],
    "import-linter": [HERE / "lint-imports", "--no-cache"],
}


@pytest.mark.first
@pytest.mark.timeout(900)  # mypy takes 45 s of processor where it has not run before
@pytest.mark.parametrize("name", TOOLS)
def test_tool_is_content(name: str) -> None:
    done = subprocess.run([str(part) for part in TOOLS[name]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


#: Searched for words of a language outside its folder.
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


def defined(path: Path) -> set[str]:
    """Every name that the top level of a module defines or imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.TypeAlias):
            found.add(node.name.id)
    return found


def test_tests_import_what_exists() -> None:
    """mypy does not read the tests; a name that is gone would fail only the module that imports it."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in (ROOT / "tests").rglob("*.py")}
    packages = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    names = {name: defined(path) for name, path in packages.items()}
    wanted = {
        (str(path.relative_to(ROOT)), node.module, alias.name)
        for path in packages.values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests")
        for alias in node.names
    }
    missing = {
        (path, module, name)
        for path, module, name in wanted
        if f"{module}.{name}" not in packages and name not in names.get(module or "", set())
    }
    assert missing == set()


def test_stages_are_imported_by_the_pipeline_alone() -> None:
    """A test may call a stage by itself; the house knows them as one pipeline."""
    stages = {f"actors.{name}" for name in STAGES}
    house = [path for folder in ("actors", "runtime") for path in (ROOT / folder).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): imported(path) & stages for path in house}
    assert {path for path, names in found.items() if names} == {"actors/pipeline.py"}
    assert found["actors/pipeline.py"] == stages


def test_a_stage_fits_on_a_page() -> None:
    lengths = {name: len((ROOT / f"actors/{name}.py").read_text(encoding="utf-8").splitlines()) for name in STAGES}
    assert {name: length for name, length in lengths.items() if length > 80} == {}


#: What prints by itself. Every other file prints by runtime/terminal.py and consoles.py, which fit texts for a terminal.
PRINTERS = {
    "runtime/terminal.py": "prints what it has fitted",
    "runtime/commands/consoles.py": "is the console that fits",
    "runtime/commands/trace.py": "writes a trace as it is, byte for byte, where standard output is no terminal",
}
#: Calls that print, and calls that read markup in what they are given.
PRINTING = re.compile(
    r"(print|click\.(echo|secho|style|echo_via_pager)|(rich\.console\.)?Console|(rich\.)?print|"
    r"sys\.std(out|err)(\.buffer)?\.write(lines)?|(\w+\.)?(from_markup|render_markup))"
)


def test_printing_needs_the_terminal_module() -> None:
    """No other file of the runtime calls what prints a text as it is, or has markup or emoji codes read in it."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "runtime").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            reads = {each.arg for each in node.keywords} & {"markup", "emoji", "highlighter"}
            if PRINTING.fullmatch(name) or (reads and name != "TextColumn"):
                found.setdefault(str(path.relative_to(ROOT)), set()).add(name)
    assert {path: names for path, names in found.items() if path not in PRINTERS} == {}
    assert set(found) == set(PRINTERS), "an exception that is none any more"


def test_processes_import_nothing_from_where_they_start() -> None:
    """A user's `runtime.py` or `index.py` beside the documents would be taken for a package of ours without `-P`."""
    found = [path for folder in ("bus", "index", "runtime") for path in (ROOT / folder).rglob("*.py")]
    assert [path for path in found if 'sys.executable, "-m"' in path.read_text(encoding="utf-8")] == []


def test_progress_columns_read_no_markup() -> None:
    for path in (ROOT / "runtime").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("TextColumn"):
                assert [ast.unparse(each.value) for each in node.keywords if each.arg == "markup"] == ["False"], path


def test_an_edge_starts_without_the_pipeline() -> None:
    """Loading the stages and their prompts takes as long as the rest of an edge's start; only views of a run need them."""
    code = "import sys, runtime.processes.edge; print(*sorted(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"actors.pipeline", "prompts.library", "dotpromptz"} & set(found.split())


def test_bench_switches_features_off() -> None:
    """Each text that the bench replaces is in its file, once."""
    edits = [edit for edits in FEATURES.values() for edit in edits]
    assert [edit for edit in edits if (ROOT / edit[0]).read_text(encoding="utf-8").count(edit[1]) != 1] == []
