"""Suites as tests: pytest collects every `*.suite` file, and each of its cases is a test.

    # conftest.py
    pytest_plugins = ["groundwire.testing"]

A file is run once, in one process beside pytest's. The settings `groundwire_index`, `groundwire_fill` and `groundwire_config` of
pytest's own file are the options of `groundwire suite run`. A project that does not name this module loads nothing of it.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

OPTIONS = {
    "index": "Search this index, in place of the recorded evidence.",
    "fill": "Let this engine answer what the record has no reply to.",
    "config": "The settings file of the service.",
}


class CaseFailed(Exception):
    """A case does not hold."""


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, told in OPTIONS.items():
        parser.addini(f"groundwire_{name}", told, default="")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return SuiteFile.from_parent(parent, path=file_path) if file_path.suffix == ".suite" else None


class SuiteFile(pytest.File):
    """A suite; it is run when the first of its cases is."""

    found: dict[str, dict[str, Any]] | None = None

    def collect(self) -> Iterator[pytest.Item]:
        for case in tomllib.loads(self.path.read_text(encoding="utf-8")).get("case", ()):
            yield CaseItem.from_parent(self, name=str(case.get("name", "?")))

    def results(self) -> dict[str, dict[str, Any]]:
        if self.found is None:
            given = [(name, str(self.config.getini(f"groundwire_{name}"))) for name in OPTIONS]
            options = [part for name, value in given if value for part in (f"--{name}", value)]
            command = [sys.executable, "-P", "-m", "runtime", "suite", "run", str(self.path), "--json", *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.config.rootpath)
            if done.returncode not in (0, 1):
                raise CaseFailed(done.stderr.strip())
            self.found = {each["case"]: each for each in map(json.loads, done.stdout.splitlines())}
        return self.found


class CaseItem(pytest.Item):
    """One case."""

    def runtest(self) -> None:
        assert isinstance(self.parent, SuiteFile)
        result = self.parent.results()[self.name]
        if not result["holds"]:
            raise CaseFailed("\n".join(result["lines"]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        return str(excinfo.value) if isinstance(excinfo.value, CaseFailed) else str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.path.name}: {self.name}"
