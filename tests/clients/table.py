"""The tables of docs/clients.md: which client does what, made of the clients' tests and of what they did when they ran.

    uv run python -m tests.clients.table      # runs the tests, and writes the tables if none failed

A module of tests names its client: `ROWS`, with a row for each client, or `CHECKERS`. The tests of a cell are
those named after it (`test_ask`, `test_ask_…`). A cell without a test is a dash, and its row gives the reason. `test_table.py`
fails when the page differs from the modules and the pinned versions. The work is done as a plugin of pytest.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
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
#: Why there is no test of some: of several clients alike.
CHAT_HAS_NO_WAY_BACK = "A chat completion has no address for resuming; a response has one."
NO_CALL_TO_RESUME = (
    "The client has no call for it; `GET /v1/responses/{id}?stream=true&starting_after=N` continues after event N."
)
#: Where the plugin writes the page.
_TO = "CLIENTS_PAGE"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A client. `keys`: of the parameter with which its tests run; empty: every test of the module is its.

    `package` is empty for a client of this repository or of the machine. `pins`: the file with its pin; empty: the project.
    `never` has the reason for a column without a test.
    """

    name: str
    over: str
    package: str = ""
    pins: str = ""
    keys: tuple[str, ...] = ()
    never: dict[Column, str] = field(default_factory=dict)

    def has(self, test: pytest.Function) -> bool:
        called = getattr(test, "callspec", None)
        return not self.keys or any(value in self.keys for value in (called.params.values() if called else ()))


@dataclass(frozen=True, kw_only=True)
class Checker:
    """A program that looks for faults in the service. `pins` as of a row; `tests`: the prefix of the names of its tests."""

    name: str
    checks: str
    package: str = ""
    pins: str = ""
    tests: str = "test_"

    def has(self, test: pytest.Function) -> bool:
        return test.name.startswith(self.tests)


def modules() -> list[str]:
    """The modules of tests that declare something here."""
    declaring = (path for path in ROOT.glob("tests/**/test_*.py") if "clients.table import" in path.read_text("utf-8"))
    return sorted(str(path.relative_to(ROOT)) for path in declaring if path.name != "test_table.py")


def make(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Have pytest write the page with new tables; with `--collect-only`, as if every test passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.clients.table", "-n0", *options, *modules()]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, _TO: str(page)}, capture_output=True, text=True, check=False
    )


def version(package: str, pins: str) -> str:
    """The version that is pinned; empty without a package. Raises KeyError when none is pinned."""
    if not package:
        return ""
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


def made(items: Sequence[pytest.Item], outcomes: Mapping[str, str] | None = None) -> str:
    """The page with the tables of these tests; one without an outcome counts as passed.

    Raises UsageError when a cell has neither a test nor a reason, or both.
    """
    tests = [item for item in items if isinstance(item, pytest.Function)]
    tables = {"clients": _clients, "checkers": _checkers}
    text = PAGE.read_text(encoding="utf-8")
    return BLOCK.sub(lambda found: found[1] + tables[found[2]](tests, outcomes or {}) + found[3], text)


_items: list[pytest.Item] = []
_outcomes: dict[str, str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only those that are of a cell run."""
    tests = [item for item in items if isinstance(item, pytest.Function)]
    own = [test for _, own in _declared("ROWS", tests) for test in own if any(_is_of(test, each) for each in COLUMNS)]
    own += [test for _, own in _declared("CHECKERS", tests) for test in own]
    items[:] = [test for test in tests if test in own]


def pytest_collection_finish(session: pytest.Session) -> None:
    _items[:] = session.items
    made(_items)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _outcomes.get(report.nodeid, "passed") == "passed":
        _outcomes[report.nodeid] = "xfailed" if hasattr(report, "wasxfail") else report.outcome


def pytest_sessionfinish() -> None:
    Path(os.environ[_TO]).write_text(made(_items, _outcomes), encoding="utf-8")


Tests = Sequence[pytest.Function]
Outcomes = Mapping[str, str]


def _clients(tests: Tests, outcomes: Outcomes) -> str:
    reasons: list[str] = []
    lines = []
    for row, own in sorted(_declared("ROWS", tests), key=lambda each: (each[0].over, each[0].name.lower())):
        cells = []
        for column in COLUMNS:
            of_it = [test for test in own if _is_of(test, column)]
            reason = row.never.get(column)
            if bool(of_it) == bool(reason):
                raise pytest.UsageError(f"{row.name}, {row.over}: give it a test_{column}, or a reason in `never`")
            if reason and reason not in reasons:
                reasons.append(reason)
            cells.append(f"— <sup>{reasons.index(reason) + 1}</sup>" if reason else _passes(of_it, outcomes))
        lines.append(f"| {row.name} | {version(row.package, row.pins)} | {row.over} | {' | '.join(cells)} |")
    head = [f"| client | version | over | {' | '.join(COLUMNS)} |", f"|---|---|---|{':-:|' * len(COLUMNS)}"]
    return "\n".join([*head, *lines, "", *(f"{n}. {reason}" for n, reason in enumerate(reasons, 1))])


def _checkers(tests: Tests, outcomes: Outcomes) -> str:
    lines = [
        f"| {one.name} | {version(one.package, one.pins)} | {one.checks} | {_passes(own, outcomes)} |"
        for one, own in sorted(_declared("CHECKERS", tests), key=lambda each: each[0].name.lower())
    ]
    return "\n".join(["| checker | version | of what | |", "|---|---|---|:-:|", *lines])


def _declared[T: (Row, Checker)](constant: str, tests: Tests) -> Iterator[tuple[T, list[pytest.Function]]]:
    """What the modules of these tests declare, each with its own tests."""
    for module in dict.fromkeys(test.module for test in tests):
        for declared in getattr(module, constant, ()):
            if not isinstance(declared, Row | Checker):
                break  # a module that is no client's has a constant of its own by that name
            yield declared, [test for test in tests if test.module is module and declared.has(test)]


def _is_of(test: pytest.Function, column: Column) -> bool:
    return f"{test.originalname}_".startswith(f"test_{column}_")


def _passes(tests: Tests, outcomes: Outcomes) -> str:
    """A tick where every test passed; else what became of the first that did not."""
    excused = (mark.name for test in tests for mark in test.iter_markers() if mark.name in ("skip", "xfail"))
    told = (outcomes.get(test.nodeid, "passed") for test in tests)
    return next((word for word in (*excused, *told) if word != "passed"), "✓")


if __name__ == "__main__":
    done = make(PAGE.with_suffix(".new"), *sys.argv[1:])
    sys.stdout.write(done.stdout + done.stderr)
    if done.returncode == 0:
        PAGE.with_suffix(".new").replace(PAGE)
    else:
        PAGE.with_suffix(".new").unlink(missing_ok=True)
    sys.exit(done.returncode)
