"""A run as one HTML file: the page's own modules and styles, with the run's record and stages. It asks no server."""

import base64
import json
import re

import msgspec

from runtime.edge.page.document import FILES, HERE
from runtime.edge.run_steps import stages_of, step_of
from runtime.replay.trace import Trace, masked_trace

_POLICY = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_ENTRY = "offline.js"
_IMPORT = re.compile(r'from "\./([a-z]+\.js)"')


def offline_page(trace: Trace) -> str:
    """The file. Computes the prompts of every stage, in event loops of its own. Raises Poison for a trace without a question."""
    record = masked_trace(trace).record
    place, stages = f"/v1/runs/{trace.run_id}", stages_of(trace)
    steps = {f"{place}/trace/{each.step}": step_of(trace, each.step) for each in stages.stages}
    # In a script only a "<" could end the element early.
    held = msgspec.json.encode({place: record, f"{place}/trace": stages, **steps}).decode().replace("<", "\\u003c")
    document = (HERE / "index.html").read_text()
    head = "".join(
        (
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n',
            *(f"<style>\n{FILES[name].decode()}</style>\n" for name in re.findall(r"([a-z]+\.css)\">", document)),
            f'<script type="application/json" id="held">{held}</script>\n',
            f'<script type="importmap">{json.dumps({"imports": _modules()})}</script>\n',
            f'<script type="module">import "{_ENTRY}";</script>\n',
        )
    )
    return re.sub(r'<link rel="stylesheet"[\s\S]*(?=</head>)', lambda _: head, document)


def _modules() -> dict[str, str]:
    """Every module as an address that holds it; they name one another without a path, since such an address has none."""
    return {
        name: "data:text/javascript;base64,"
        + base64.b64encode(_IMPORT.sub(r'from "\1"', data.decode()).encode()).decode()
        for name, data in FILES.items()
        if name.endswith(".js")
    }
