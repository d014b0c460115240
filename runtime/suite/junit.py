"""Results as JUnit's XML, which services for continuous integration show."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from runtime.suite.running import Checked
from runtime.terminal import one_line


def write_junit(path: Path, results: Sequence[tuple[str, Checked]]) -> None:
    """Write results, each with the name of its suite. Raises OSError."""
    names = list(dict.fromkeys(name for name, _ in results))
    root = ET.Element("testsuites")
    for name in names:
        own = [result for each, result in results if each == name]
        failed, broken = (sum(map(test, own)) for test in (lambda r: bool(r.missed), lambda r: bool(r.problem)))
        suite = ET.SubElement(
            root, "testsuite", name=name, tests=str(len(own)), failures=str(failed), errors=str(broken)
        )
        for result in own:
            case = ET.SubElement(suite, "testcase", classname=name, name=result.case.name)
            if result.problem:
                ET.SubElement(case, "error", message=one_line(result.problem))
            elif result.missed:
                lines = [one_line(f"{miss.what} {miss.expected}: {miss.found}") for miss in result.missed]
                ET.SubElement(case, "failure", message=lines[0]).text = "\n".join(lines)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
