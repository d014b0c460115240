"""Results as JUnit's XML, which services for continuous integration show."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path

from runtime.suite.running import Checked
from runtime.terminal import one_line


def write_junit(path: Path, results: Mapping[Path, Sequence[Checked]]) -> None:
    """Write the results of each suite. Raises OSError."""
    root = ET.Element("testsuites")
    for file, own in results.items():
        name, failures = file.name, sum(bool(result.missed) for result in own)
        counts = {"tests": len(own), "failures": failures, "errors": sum(bool(result.problem) for result in own)}
        suite = ET.SubElement(root, "testsuite", {"name": name, **{key: str(count) for key, count in counts.items()}})
        for result in own:
            case = ET.SubElement(suite, "testcase", classname=name, name=result.case.name)
            if result.problem:
                ET.SubElement(case, "error", message=one_line(result.problem))
            elif result.missed:
                lines = [one_line(f"{miss.what} {miss.expected}: {miss.found}") for miss in result.missed]
                ET.SubElement(case, "failure", message=lines[0]).text = "\n".join(lines)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
