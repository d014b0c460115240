"""What a change costs: typical changes as edits of files, each with a check that it works in a copy of the code.

docs/architecture.md shows them as a table with the number of files that each edits; tests/test_changes.py performs them.
"""

from typing import NamedTuple


class Change(NamedTuple):
    """`check`: Python that fails in the folder of the copy while the change has no effect. `environ`: a variable it runs with."""

    name: str
    check: str
    edits: tuple[tuple[str, str, str], ...] = ()  # path, old text, new text
    adds: tuple[tuple[str, str], ...] = ()  # path, text
    copies: tuple[str, str] = ("", "")  # new folder, its origin
    environ: tuple[str, str] = ("", "")

    def places(self) -> list[str]:
        """What is edited or added: files, and whole folders that are new."""
        added = [path for path, _ in self.adds]
        folders = {path.partition("/")[0] + "/" for path in added if path.startswith("plugin/")}
        files = [path for path in added if not path.startswith("plugin/")]
        return [
            *files,
            *(path for path, _, _ in self.edits),
            *folders,
            *([self.copies[0] + "/"] if self.copies[0] else []),
        ]


def plugin(group: str, target: str, code: str) -> tuple[tuple[str, str], ...]:
    """The files of an installed plug-in: its module and its entry point."""
    entry = f"[groundwire.{group}]\nprobe = probe_plugin:{target}\n"
    return (
        ("plugin/probe_plugin.py", code),
        ("plugin/probe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n"),
        ("plugin/probe-1.0.dist-info/entry_points.txt", entry),
    )


ENGINE = """
from runtime.engines.engine import Delta, Finished

class Probe:
    name, model, needs_rendering, owns_device = "probe", "none", True, False
    async def start(self): pass
    async def close(self): pass
    async def generate(self, request):
        yield Delta("yes")
        yield Finished(text="yes", finish_reason="stop", engine=self.name, model=self.model)

def make(settings, wiring):
    return Probe()
"""

PROTOCOL = """
from aiohttp import web
from runtime.edge.routes import Reply, Route

@Route("GET", "/probe", {200: Reply("A word.", "text/plain")}, "ask")
async def probe(request):
    \"\"\"Say a word.\"\"\"
    return web.Response(text="probe")

def routes(edge):
    return [probe]
"""

FORMAT = '''
"""Files of the ending .probe: one paragraph."""

from index.readers.formats import TextBuilder
from index.readers.text import decode
from index.readers.formats import Format


def read(source):
    builder = TextBuilder()
    builder.add(decode(source.data))
    return builder.finish(source.source_id, source.title)


FORMATS = (Format("Probe", (".probe",), read, "", "its text"),)
'''

STAGE = '''
"""Look once more at a verified answer.

AnswerVerified -> AnswerSeen
"""

import msgspec

from bus.delivery.actor import actor
from bus.wire.messages import AnswerSeen, AnswerVerified


@actor()
async def see_answer(message: AnswerVerified) -> AnswerSeen:
    return AnswerSeen(**msgspec.structs.asdict(message))
'''

CHANGES = (
    Change(
        "an event for `events=all`",
        "import actors.settle_answer\nfrom bus.powers.events import EVENT_TYPES, Probe\nassert Probe in EVENT_TYPES",
        edits=(
            (
                "bus/powers/events.py",
                "#: Events that every client gets.\n",
                'class Probe(Event, frozen=True, kw_only=True, tag="probe"):\n    word: str\n\n\n'
                "#: Events that every client gets.\n",
            ),
            ("bus/powers/events.py", "| VerdictEvent | Queued", "| VerdictEvent | Queued | Probe"),
            ("actors/settle_answer.py", "import VerdictEvent", "import Probe, VerdictEvent"),
            (
                "actors/settle_answer.py",
                "    return settled",
                '    await emit.aside(Probe(word="seen"))\n    return settled',
            ),
            (
                "runtime/edge/page/turn.js",
                '      case "error":\n',
                '      case "probe": this.progress.textContent = event.word; break;\n      case "error":\n',
            ),
        ),
    ),
    Change(
        "a format",
        "from index.readers.formats import Source, read\n"
        "assert read(Source(b'Ice melts.', 'a', 'a', '.probe')).text == 'Ice melts.'",
        adds=(("index/readers/probe.py", FORMAT),),
    ),
    Change(
        "a language",
        "from index.languages import LANGUAGES, check, name_of\nimport prompts.profiles\n"
        "check(); assert 'pt' in LANGUAGES and name_of('pt') == 'Portuguese'"
        "\nassert 'pt' in prompts.profiles.load('general').languages",
        edits=(("index/languages/pt/identity.toml", 'name = "Spanish"', 'name = "Portuguese"'),),
        copies=("index/languages/pt", "index/languages/es"),
    ),
    Change(
        "a stage between two others, with a message of its own",
        "from actors.pipeline import STAGES, pipeline\n"
        "assert 'see_answer' in STAGES and 'see_answer -->|AnswerSeen| settle_answer' in pipeline().mermaid()",
        edits=(
            (
                "actors/pipeline.py",
                "from actors.settle_answer",
                "from actors.see_answer import see_answer\n" + "from actors.settle_answer",
            ),
            ("actors/pipeline.py", "    settle_answer,\n", "    see_answer,\n    settle_answer,\n"),
            ("actors/settle_answer.py", "AnswerVerified", "AnswerSeen"),
            (
                "bus/wire/messages.py",
                "class AnswerSettled(",
                'class AnswerSeen(Draft, frozen=True, kw_only=True):\n    """Seen once more. -> settle_answer"""\n\n\n'
                "class AnswerSettled(",
            ),
        ),
        adds=(("actors/see_answer.py", STAGE),),
    ),
    Change(
        "an engine for prompts",
        "from runtime.settings import load\nfrom runtime.engines.rendering import make_engine\n"
        "assert make_engine(load().inference).name == 'probe'",
        adds=plugin("engines", "make", ENGINE),
        environ=("GROUNDWIRE_INFERENCE_ENGINE", "probe"),
    ),
    Change(
        "a protocol of the edge",
        "from runtime.edge.app import make_app\nfrom runtime.edge.openapi import ROUTES\nfrom runtime.edge.state import Edge\n"
        "from runtime.settings import EdgeSettings\n"
        "assert '/probe' in {route.path for route in make_app(Edge(EdgeSettings(), None))[ROUTES]}",
        adds=plugin("protocols", "routes", PROTOCOL),
    ),
    Change(
        "a setting of a process",
        "from runtime.settings import load\nassert load().inference.probe_s == 5",
        edits=(
            (
                "runtime/settings.py",
                '    lock: str = ""',
                '    probe_s: float = 2.0  #: of a probe\n    lock: str = ""',
            ),
        ),
        environ=("GROUNDWIRE_INFERENCE_PROBE_S", "5"),
    ),
    Change(
        "a setting of a stage, in the profiles",
        "from actors.settle_answer import probed\nassert probed('general') == 3",
        edits=(
            ("prompts/profiles.py", "    rerank: bool = True", "    probe: int = 3\n    rerank: bool = True"),
            (
                "actors/settle_answer.py",
                "\n\n@actor()",
                "\n\ndef probed(profile: str) -> int:\n    return profile_of(profile).retrieval.probe\n\n\n@actor()",
            ),
        ),
    ),
    Change(
        "the value of a threshold",
        "from actors.gate.thresholds import LABEL_WORDS\nassert LABEL_WORDS == 5",
        edits=(("actors/gate/thresholds.py", "LABEL_WORDS: Final = 4", "LABEL_WORDS: Final = 5"),),
    ),
)


def table() -> str:
    """The changes as the guide shows them."""
    rows = ["| change | files | which |", "|---|---|---|"]
    for change in CHANGES:
        places = list(dict.fromkeys(change.places()))
        whole = change.copies[0] or any(path.startswith("plugin/") for path in places)
        if whole:
            places = [path for path in places if path.endswith("/")]
        shown = ", ".join("a plug-in of its own" if path == "plugin/" else f"`{path}`" for path in places)
        rows.append(f"| {change.name} | {'1 folder' if whole else len(places)} | {shown} |")
    return "\n".join(rows)
