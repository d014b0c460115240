"""A run as text for a terminal: its answer, each sentence with its evidence, what was not used, its stages on a scale of time."""

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from actors.pipeline import pipeline
from bus.journal.records import Stage
from bus.journal.verdicts import verdict_in
from bus.runs.run_record import ending
from runtime.commands.consoles import plain_console
from runtime.forking.live_powers import engine_of
from runtime.replay.explained import Explained, Hit, Told
from runtime.replay.steps import Step, steps_of
from runtime.replay.trace import Trace
from runtime.terminal import fit, one_line

#: How many characters of a passage are shown, and how many of the units and unused hits, unless all are wanted.
SHORT, FEW = 160, 5
#: The width of the scale of time, in characters.
SCALE = 24
#: Wider than any line.
UNBROKEN = 10_000


def show_run(trace: Trace, run: Explained, *, wide: bool) -> None:
    """Print it. Names are never cut; `wide`: no line is broken and no text shortened."""
    console = plain_console(width=UNBROKEN if wide else None)
    for indent, line in lines_of(trace, run, wide=wide):
        put(console, indent, line)


def put(console: Console, indent: int, line: str) -> None:
    """Print a line, broken at words where the terminal ends, and each part of it indented."""
    for part in Text(fit(line)).wrap(console, console.width - indent, overflow="fold"):
        console.print(" " * indent + part.plain.rstrip(), soft_wrap=True)


def lines_of(trace: Trace, run: Explained, *, wide: bool) -> Iterator[tuple[int, str]]:
    """Each line with its indent."""
    record = run.record
    yield 0, f"run {record.run_id}" + (f", a fork of {trace.parent} at {trace.forked_at}" if trace.parent else "")
    yield 0, one_line(record.question)
    yield 0, ", ".join(_facts(run))
    yield from _titled("answer", [(2, line) for line in record.answer.splitlines()])
    yield from _titled("withdrawn", [(2, line) for line in record.withdrawn.splitlines()])
    yield from _titled("sentences", [line for each in run.sentences for line in _sentence(each)])
    numbered = ((f"[{s.n}] {s.source_id} {s.source_start}-{s.source_end}", _short(s.text, wide)) for s in run.evidence)
    yield from _titled("evidence", [line for head, text in numbered for line in ((2, head), (6, text))])
    near = enumerate(record.passages, 1)
    lines = [f"{n}. {p.source_id} {p.source_start}-{p.source_end}: {_short(p.text, wide)}" for n, p in near]
    yield from _titled("closest passages", [(2, line) for line in lines])
    yield from _titled("hits that are no evidence", _unused([hit for hit in run.hits if not hit.used], wide))
    yield from _titled("the choice", _choice(run, wide))
    conflicts = [(2, f"[{c.first_n}] {c.first} / [{c.second_n}] {c.second} ({c.kind})") for c in record.conflicts]
    yield from _titled("conflicts", conflicts)
    failed = [(2, f"{each.stage}: {each.fallback}") for each in record.stages if each.fallback]
    yield from _titled("fallbacks", failed)
    if (given := verdict_in(trace.records)) is not None:
        told = f"{given.verdict}{f', by {given.by}' if given.by else ''}{f': {given.note}' if given.note else ''}"
        yield from _titled("verdict", [(2, one_line(told))])
    yield from _titled("stages", list(_stages(trace)))


def _titled(title: str, lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    if lines:
        yield 0, ""
        yield 0, title
        yield from lines


def _facts(run: Explained) -> Iterator[str]:
    record = run.record
    yield ending(record.outcome, record.reason)
    if record.detail and record.detail not in record.answer:
        yield one_line(record.detail)
    if record.confidence:
        yield f"{record.confidence} confidence"
    if run.probability is not None:
        yield f"probability {run.probability:.3f}{f' ({run.needed:g} needed)' if run.needed is not None else ''}"
    if record.took_s is not None:
        yield f"{record.took_s * 1000:.0f} ms"
    yield f"profile {record.profile}"
    yield from filter(None, (record.language, record.model))
    if record.snapshot:
        yield f"snapshot {record.snapshot}"


def _sentence(told: Told) -> Iterator[tuple[int, str]]:
    yield 2, f"{told.standing}: {one_line(told.text)}"
    for flag in told.flags:
        yield 6, f"{flag.kind}, {flag.strength}: {one_line(flag.why or flag.words)}"
    if told.denied:
        yield 6, f"the verifier: {one_line(told.denied)}"
    for cited in told.cited:
        yield 6, f"[{cited.n}] “{one_line(cited.text)}”"


def _short(text: str, wide: bool) -> str:
    text = one_line(text)
    return text if wide or len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _unused(hits: list[Hit], wide: bool) -> list[tuple[int, str]]:
    shown = hits if wide else hits[:FEW]
    lines = [line for h in shown for line in ((2, f"{h.source_id} {h.start}-{h.end}"), (6, h.fate))]
    return lines + ([(2, f"and {len(hits) - len(shown)} more; --wide shows all")] if len(hits) > len(shown) else [])


def _choice(run: Explained, wide: bool) -> list[tuple[int, str]]:
    lines = []
    for place, unit in enumerate(run.best if wide else run.best[:FEW], 1):
        why = ", ".join(f"{name} {by:+.1f}" for name, by in unit.why.items())
        shown = ", chosen" if unit.shown else ""
        lines += [(2, f"{place}. share {unit.share:.3f}{shown}: {unit.source_id} {unit.start}-{unit.end}"), (6, why)]
    return lines


def _stages(trace: Trace) -> Iterator[tuple[int, str]]:
    """A line for each step with its place on the scale, and one for each reply and search."""
    steps = steps_of(trace, pipeline())
    asked = trace.story.asked_at
    every = (*steps.taken, *steps.unfinished)
    whole = max((record.time - asked for step in every for record in step.outputs), default=0.0) or 1.0
    width = max((len(_name(step)) for step in every), default=0)
    for step in every:
        run = step.run
        took, began = (run.stage.took_s, run.began_s(asked)) if run else (0.0, 0.0)
        first = min(int(SCALE * began / whole), SCALE - 1)
        bar = "█" * max(1, min(round(SCALE * took / whole), SCALE - first)) if run else ""
        end = f"{took * 1000:8.1f} ms" if run else "    cut off" if step.actor.gives else "          –"
        yield 2, f"{_name(step):<{width}} {end}  {' ' * first}{bar}".rstrip()
        yield from ((6, line) for line in _calls(run.stage)) if run else ()


def _name(step: Step) -> str:
    return step.name if step.lane == "main" else f"{step.name} {step.lane}"


def _calls(stage: Stage) -> Iterator[str]:
    kinds = Counter((a.prompt, a.failure or engine_of(a) + (", remembered" if a.cached else "")) for a in stage.asks)
    for (prompt, gave), count in kinds.items():
        alike = [ask for ask in stage.asks if ask.prompt == prompt]
        tokens = f"{sum(a.tokens_in for a in alike)}+{sum(a.tokens_out for a in alike)} tokens"
        times = f"{count} times, " if count > 1 else ""
        yield f"{prompt}: {times}{gave}, {tokens}, {sum(a.took_s for a in alike) * 1000:.1f} ms"
    for search in stage.searches:
        yield f"search “{one_line(search.query)}”: {search.took_s * 1000:.1f} ms"
