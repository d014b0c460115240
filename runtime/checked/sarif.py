"""A check as SARIF 2.1.0, which code review shows at the lines of the file: contradictions as errors, the rest below."""

import importlib.metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from actors.checking.report import CheckedSentence, CheckedSpan, CheckReport
from runtime.checked.file import CheckedFile

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
#: The level and the meaning of each verdict that is a finding.
RULES: Final = {
    "contradicted": ("error", "The documents say otherwise."),
    "unverified": ("warning", "The documents have related text, which does not say this."),
    "not_covered": ("note", "The documents say nothing about this."),
}
#: JSON of a shape that the standard sets.
type Log = dict[str, Any]


def sarif_of(report: CheckReport, file: CheckedFile) -> Log:
    """The log of one run. `properties.page` places a sentence of a file without lines."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": meaning},
            "defaultConfiguration": {"level": level},
        }
        for name, (level, meaning) in RULES.items()
    ]
    driver = {"name": "Groundwire", "version": importlib.metadata.version("groundwire"), "rules": rules}
    results = [_result(sentence, file) for sentence in report.sentences if sentence.verdict in RULES]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(sentence: CheckedSentence, file: CheckedFile) -> Log:
    meaning = RULES[sentence.verdict][1]
    said = f" The document {sentence.spans[0].title} says: “{_short(sentence.spans[0].text)}”" if sentence.spans else ""
    page = file.page_of(sentence.start)
    return {
        "ruleId": sentence.verdict,
        "level": RULES[sentence.verdict][0],
        "message": {"text": f"“{_short(sentence.text)}”: {meaning} ({sentence.why}){said}"},
        "locations": [{"physicalLocation": _place(sentence, file)}],
        "relatedLocations": [_related(span, n) for n, span in enumerate(sentence.spans, 1)],
    } | ({} if page is None else {"properties": {"page": page}})


def _place(sentence: CheckedSentence, file: CheckedFile) -> Log:
    artifact = {"uri": quote(Path(file.name).as_posix())}
    if not file.is_text:
        return {"artifactLocation": artifact}
    line, column = file.line_of(sentence.start)
    end_line, end_column = file.line_of(sentence.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"artifactLocation": artifact, "region": region | {"snippet": {"text": sentence.text}}}


def _related(span: CheckedSpan, number: int) -> Log:
    region = {"charOffset": span.start, "charLength": span.end - span.start, "snippet": {"text": span.text}}
    return {
        "id": number,
        "message": {"text": f"{span.title}: “{_short(span.text)}”"},
        "physicalLocation": {"artifactLocation": {"uri": quote(span.source_id)}, "region": region},
    }


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:299] + "…"
