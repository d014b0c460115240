"""A check as SARIF 2.1.0, which code review shows at the lines of the file, contradictions as errors."""

import importlib.metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from actors.checking.report import CheckedSentence, CheckReport
from index.text.sentences import shortened
from runtime.checked.file import CheckedFile
from runtime.terminal import one_line

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
#: The level and the meaning of each verdict that is a finding.
_RULES: Final = {
    "contradicted": ("error", "The documents say otherwise."),
    "unverified": ("warning", "The documents have related text, which does not say this."),
    "not_covered": ("note", "The documents say nothing about this."),
}
#: JSON of a shape that the standard sets.
type Log = dict[str, Any]


def sarif_of(report: CheckReport, file: CheckedFile) -> Log:
    rules = [{"id": verdict, "shortDescription": {"text": meaning}} for verdict, (_, meaning) in _RULES.items()]
    driver = {"name": "Groundwire", "version": importlib.metadata.version("groundwire"), "rules": rules}
    results = [_result(sentence, file) for sentence in report.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(sentence: CheckedSentence, file: CheckedFile) -> Log:
    level, meaning = _RULES[sentence.verdict]
    line, column = file.line_of(sentence.start)
    end_line, end_column = file.line_of(sentence.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    said = "".join(f" The document {span.title} says: “{_short(span.text)}”" for span in sentence.spans)
    return {
        "ruleId": sentence.verdict,
        "level": level,
        "message": {"text": f"“{_short(sentence.text)}”: {meaning} ({sentence.why}){said}"},
        "locations": [_place(Path(file.name).as_posix(), sentence.text, region if file.is_text else {})],
        "relatedLocations": [
            _place(span.source_id, span.text, {"charOffset": span.start, "charLength": span.end - span.start})
            | {"message": {"text": span.title}}
            for span in sentence.spans
        ],
    }


def _place(uri: str, text: str, region: Log) -> Log:
    place = {"artifactLocation": {"uri": quote(uri)}, "region": region | {"snippet": {"text": text}}}
    return {"physicalLocation": place if region else {"artifactLocation": place["artifactLocation"]}}


def _short(text: str) -> str:
    return shortened(one_line(text), 300)
