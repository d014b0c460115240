"""The tables of docs/clients.md: which client does what, made of the clients' tests and of what they did when they ran.

    uv run python -m tests.clients.table      # runs the tests, and writes the tables if none failed

A module of tests says beside them whose they are: `ROWS`, with a row for each client, or `CHECKER`. The tests of a cell are those
named after it (`test_ask`, `test_ask_…`). A cell without a test is a dash, and its row says why. `tests/clients/test_table.py` fails when
the page is not what the modules and the pinned versions make it. This module is a plugin of pytest, too, which does the work.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "clients.md"
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(\n<!-- end -->)", re.DOTALL)
Column = Literal["ask", "stream", "cite", "cancel", "resume", "error"]
COLUMNS: tuple[Column, ...] = ("ask", "stream", "cite", "cancel", "resume", "error")
#: Where the plugin writes the page.
_TO = "GROUNDWIRE_CLIENTS_PAGE"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A client. `key`: of the parameter with which its tests run; empty: every test of the module is its.

    `pins`: what pins the package, beside this file; empty: the project, or nothing where there is no package.
    `never` says why a column has no test.
    """

    name: str
    over: str
    package: str = ""
    pins: str = ""
    key: str = ""
    never: dict[Column, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Checker:
    """A program that looks for faults in what is served; every test of the module is its. `pins` as of a row."""

    name: str
    checks: str
    package: str = ""
    pins: str = ""


def modules() -> list[str]:
    """The modules of tests that declare something here."""
    declaring = (path for path in ROOT.glob("tests/**/test_*.py") if "clients.table import" in path.read_text("utf-8"))
    return sorted(str(path.relative_to(ROOT)) for path in declaring if path.name != "test_table.py")


def make(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Have pytest write the page with its tables made anew; with `--collect-only`, as if every test passed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.clients.table",
        "-p",
        "no:xdist",
        *options,
        *modules(),
    ]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, _TO: str(page)}, capture_output=True, text=True, check=False
    )


def version(package: str, pins: str) -> str:
    """The version that is pinned. Raises KeyError when there is none."""
    if not package:
        return "the machine's"
    if pins.startswith("node/"):
        locked = json.loads((HERE / pins / "package-lock.json").read_text(encoding="utf-8"))
        return str(locked["packages"][f"node_modules/{package}"]["version"])
    if pins:
        file = HERE / (f"{pins}/go.mod" if pins.startswith("go/") else pins)
        lines = file.read_text(encoding="utf-8").splitlines()
    else:
        lines = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"][
            "constraint-dependencies"
        ]
    found = (re.search(rf"(?:^|\s){re.escape(package)}(?:==| v)([^\s;]+)", line) for line in lines)
    pinned = next((each[1] for each in found if each), None)
    if pinned is None:
        raise KeyError(f"{package} is not pinned in {pins or 'pyproject.toml'}")
    return pinned


_items: list[pytest.Function] = []
_outcomes: dict[str, str] = {}


def pytest_collection_finish(session: pytest.Session) -> None:
    _items[:] = [item for item in session.items if isinstance(item, pytest.Function)]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _outcomes.get(report.nodeid, "passed") == "passed":
        _outcomes[report.nodeid] = report.outcome


def pytest_sessionfinish() -> None:
    """Write the page, from the tests that were collected and what became of those that ran."""
    made = {"clients": _clients, "checkers": _checkers}
    text = BLOCK.sub(lambda found: found[1] + made[found[2]]() + found[3], PAGE.read_text(encoding="utf-8"))
    Path(os.environ[_TO]).write_text(text, encoding="utf-8")


def _clients() -> str:
    reasons: list[str] = []
    rows = []
    for row, items in sorted(_declared(Row), key=lambda each: (each[0].over, each[0].name.lower())):
        own = [item for item in items if not row.key or row.key in _values(item)]
        cells = [_cell(row, column, [item for item in own if _is_of(item, column)], reasons) for column in COLUMNS]
        rows.append(f"| {row.name} | {version(row.package, row.pins)} | {row.over} | {' | '.join(cells)} |")
    head = [f"| client | version | over | {' | '.join(COLUMNS)} |", f"|---|---|---|{':-:|' * len(COLUMNS)}"]
    return "\n".join([*head, *rows, "", *(f"{n}. {reason}" for n, reason in enumerate(reasons, 1))])


def _cell(row: Row, column: Column, items: list[pytest.Function], reasons: list[str]) -> str:
    reason = row.never.get(column)
    if bool(items) == bool(reason):
        raise pytest.UsageError(f"{row.name}: {column} needs either a test_{column} or a reason why there is none")
    if reason is None:
        return _passes(items)
    if reason not in reasons:
        reasons.append(reason)
    return f"— <sup>{reasons.index(reason) + 1}</sup>"


def _checkers() -> str:
    rows = [
        f"| {one.name} | {version(one.package, one.pins)} | {one.checks} | {_passes(items)} |"
        for one, items in sorted(_declared(Checker), key=lambda each: each[0].name.lower())
    ]
    return "\n".join(["| checker | version | of what | |", "|---|---|---|:-:|", *rows])


def _declared[T](kind: type[T]) -> Iterator[tuple[T, list[pytest.Function]]]:
    """What the modules declare, with the tests of each module."""
    for module in dict.fromkeys(item.module for item in _items):
        declared = (*getattr(module, "ROWS", ()), getattr(module, "CHECKER", None))
        yield from ((each, _of(module)) for each in declared if isinstance(each, kind))


def _of(module: object) -> list[pytest.Function]:
    return [item for item in _items if item.module is module]


def _values(item: pytest.Function) -> Sequence[object]:
    called = getattr(item, "callspec", None)
    return tuple(called.params.values()) if called else ()


def _is_of(item: pytest.Function, column: Column) -> bool:
    return item.originalname == f"test_{column}" or item.originalname.startswith(f"test_{column}_")


def _passes(items: list[pytest.Function]) -> str:
    """A tick where every test passed; else what became of the first that did not."""
    excused = ("xfail" if item.get_closest_marker("xfail") else "skipped" for item in items if _is_excused(item))
    other = (_outcomes.get(item.nodeid, "passed") for item in items)
    return next((word for word in (*excused, *other) if word != "passed"), "✓")


def _is_excused(item: pytest.Function) -> bool:
    return any(item.get_closest_marker(mark) for mark in ("skip", "xfail"))


if __name__ == "__main__":
    done = make(PAGE.with_suffix(".new"))
    sys.stdout.write(done.stdout[-4000:] + done.stderr[-4000:])
    if done.returncode == 0:
        PAGE.with_suffix(".new").replace(PAGE)
    else:
        PAGE.with_suffix(".new").unlink(missing_ok=True)
    sys.exit(done.returncode)
