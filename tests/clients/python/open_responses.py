"""Check responses and events against Open Responses: `open_responses.py < LINES` prints the errors as JSON.

A line of the input is a response or an event. Both readings of the published document are asked: the models that
`openresponses-types` makes of it, and the document itself, which `llm-comply` brings.
"""

import json
import sys
from pathlib import Path

import llm_comply
from llm_comply.schema import SSE_EVENT_TO_SCHEMA, SpecLoader
from openresponses_types import types
from pydantic import ValidationError

document = SpecLoader(str(Path(llm_comply.__file__).parent / "specs" / "openresponses.json"))
wrong = []
for line in sys.stdin:
    value = json.loads(line)
    name = SSE_EVENT_TO_SCHEMA[value["type"]] if "type" in value else "ResponseResource"
    wrong += [f"{name}: {problem}" for problem in document.validate(value, name)]
    try:
        getattr(types, name).model_validate(value)
    except ValidationError as problem:
        wrong.append(f"{name}: {problem}")
print(json.dumps(wrong))
