"""The first command installs what its user needs and no more, and all that the product imports is among it or in an extra."""

import ast
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PARTS = ("actors", "bus", "groundwire", "index", "prompts", "runtime")
#: Loaded by pytest alone.
OTHERS = {"runtime/client-library/groundwire/testing.py"}
#: More packages than this need a justification.
MOST_PACKAGES = 100


def said_to_need(name: str) -> list[str]:
    """The requirements of a package, as corrected in pyproject.toml."""
    for corrected in PROJECT["tool"]["uv"]["dependency-metadata"]:
        if corrected["name"] == name:
            needs: list[str] = corrected["requires-dist"]
            return needs
    return metadata.requires(name) or []


def installed_with(requirements: list[str]) -> set[str]:
    """The packages that requirements bring on this machine, with what those need in turn."""
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        wanted, asked_by = waiting.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": asked_by}):
            continue
        name = canonicalize_name(wanted.name)
        for extra in ("", *wanted.extras):
            if (name, extra) not in found:
                found.add((name, extra))
                waiting += [(Requirement(text), extra) for text in said_to_need(name)]
    return {name for name, _ in found}


def imported() -> dict[str, str]:
    """Each module of others that the product imports, wherever in a file, with a file that does."""
    found: dict[str, str] = {}
    for part in PARTS:
        folder = ROOT / "runtime" / "client-library" / part if part == "groundwire" else ROOT / part
        for path in folder.rglob("*.py"):
            if str(path.relative_to(ROOT)) in OTHERS:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [node.module]
                found |= {name.partition(".")[0]: str(path.relative_to(ROOT)) for name in names}
    return {name: path for name, path in found.items() if name not in {*sys.stdlib_module_names, *PARTS}}


def test_first_command_installs_few_packages() -> None:
    packages = installed_with(PROJECT["project"]["dependencies"])
    assert len(packages) < MOST_PACKAGES, sorted(packages)
    assert (
        not packages & {"torch", "transformers", "pandas", "pyarrow", "scikit-learn", "pytest"}
        or sys.platform == "darwin"
    )
    assert PROJECT["tool"]["uv"]["default-groups"] == []


def test_every_import_is_a_dependency_or_extra() -> None:
    extras = [text for texts in PROJECT["project"]["optional-dependencies"].values() for text in texts]
    brought = installed_with([*PROJECT["project"]["dependencies"], *(text for text in extras if installed(text))])
    provided_by = metadata.packages_distributions()
    missing = {
        f"{path}: {module}"
        for module, path in imported().items()
        if module in provided_by and not brought & {canonicalize_name(name) for name in provided_by[module]}
    }
    assert missing == set()


def installed(requirement: str) -> bool:
    try:
        metadata.version(Requirement(requirement).name)
    except metadata.PackageNotFoundError:
        return False
    return True


def test_wheel_has_the_same_dependency_corrections() -> None:
    assert tomllib.loads((ROOT / "install.toml").read_text(encoding="utf-8")) == {
        "dependency-metadata": PROJECT["tool"]["uv"]["dependency-metadata"]
    }
    for corrected in PROJECT["tool"]["uv"]["dependency-metadata"]:
        assert metadata.version(corrected["name"]) == corrected["version"], "correct what the installed version says"


def test_readme_test_command_matches_ci() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    run = next(line for line in lines if " pytest" in line)
    assert f"\n    {run.partition(' -m ')[2].partition(' ||')[0]}\n" in readme
