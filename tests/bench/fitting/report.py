"""Report what weights were fitted on and how often they are right: tables for a terminal, and a page of Markdown."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from actors.choosing.weights import HIGH, MEDIUM, FittedOn
from runtime.measure.question_figures import Share
from tests.bench.fitting.figures import (
    STRICT,
    THRESHOLDS,
    Chosen,
    From,
    Tenth,
    bands,
    calibration_error,
    shown_from,
    tenths,
)

_SHARES = ("right of shown", "right of answerable", "near misses shown", "helped")
_PAGE = """\
# How often the chosen answer is right

Weights fitted on question sets choose the answer. The answer is shown if a fitted probability is high enough: from {strict} on in
the strict voice, which all tables by collection and by confidence use. Every share has its 95 % interval (Wilson). *Helped*:
the answer is shown, or no answer is shown and one of the five closest passages contains it. A near miss is a question that
the documents do not answer.

Every question of the first tables is judged by weights that were fitted without its collection. The features were developed
with such questions in view. Only the sets that were not fitted on measure new documents.

This page, the diagram and the weights are written by `tests/bench/fit_choosing.py`.
"""
_DIAGRAM = """
## Predicted and measured

Each dot is a tenth of the scale, its area the number of questions in it, the line its interval. The mean distance from the
diagonal is {error:.3f}. The scale is stretched so that from {strict} on, and again from {high} on, a promised share of the shown
answers is right. A dot off the diagonal is therefore not a plain frequency.

![Probability predicted against the share that was right]({image})
"""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table; its first column is text, the others are figures."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A set with its choices."""

    name: str
    items: tuple[Chosen, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """What came out of a fit. `left_out`: each choice by weights that had not seen its collection; `beside`: so for the question
    answering sets, which count less; `scored`: the sets that were not fitted on."""

    fitted_on: tuple[FittedOn, ...]
    left_out: tuple[Chosen, ...]
    beside: tuple[Chosen, ...]
    scored: tuple[Scored, ...]


def sheets(fitted: Fitted) -> list[Sheet]:
    """The tables, in the order of the page."""
    found = [
        _by_threshold("Each collection left out of the fit", fitted.left_out),
        _by_confidence(fitted.left_out),
        _by_collection(f"By collection, shown from {STRICT}", fitted.left_out),
    ]
    found += [_by_threshold(f"Not fitted on: {one.name}", one.items) for one in fitted.scored]
    if fitted.beside:
        found.append(_by_collection("Question answering sets, each left out of the fit", fitted.beside))
    return [*found, _sources(fitted.fitted_on)]


def page(fitted: Fitted, image: str) -> str:
    """The tables as Markdown; `image`: where the diagram stands."""
    first, *others = map(_markdown, sheets(fitted))
    error = calibration_error(tenths(fitted.left_out))
    return "".join(
        [
            _PAGE.format(strict=STRICT),
            first,
            _DIAGRAM.format(image=image, error=error, strict=STRICT, high=HIGH),
            *others,
        ]
    )


def written(share: Share) -> str:
    if share.share is None or share.low is None or share.high is None:
        return "-"
    return f"{share.share:.2f} ({share.low:.2f} to {share.high:.2f})"


def _shares(found: From) -> tuple[str, ...]:
    return tuple(map(written, (found.right_of_shown, found.right, found.near_misses_shown, found.helped)))


def _counted(items: Sequence[Chosen]) -> str:
    answerable = sum(one.answerable for one in items)
    return f"{answerable} answerable questions, {len(items) - answerable} near misses"


def _by_threshold(title: str, items: Sequence[Chosen]) -> Sheet:
    rows = tuple((f"{least}", *_shares(shown_from(items, least))) for least in THRESHOLDS)
    return Sheet(f"{title}: {_counted(items)}", ("shown from", *_SHARES), rows)


def _by_confidence(items: Sequence[Chosen]) -> Sheet:
    rows = tuple(
        (f"{band.name}, from {band.least}", f"{band.right.of}", written(band.right), written(band.of_shown))
        for band in bands(items)
    )
    return Sheet(f"By confidence, shown from {STRICT}", ("confidence", "shown", "right", "part of shown"), rows)


def _by_collection(title: str, items: Sequence[Chosen]) -> Sheet:
    """In counts: a collection alone is too small for a share."""
    groups: dict[str, list[Chosen]] = {}
    for one in items:
        groups.setdefault(one.collection, []).append(one)
    found = {name: shown_from(group, STRICT) for name, group in sorted(groups.items())}
    rows = tuple(
        (name, *map(_count, (of.right_of_shown, of.right, of.near_misses_shown, of.helped)))
        for name, of in found.items()
    )
    return Sheet(title, ("collection", *_SHARES), rows)


def _count(share: Share) -> str:
    return f"{share.found} of {share.of}" if share.of else "-"


def _sources(fitted_on: Sequence[FittedOn]) -> Sheet:
    sets: dict[str, list[FittedOn]] = {}
    for one in fitted_on:
        sets.setdefault(one.question_set, []).append(one)
    rows = []
    for name, parts in sets.items():
        answerable = sum(part.answerable for part in parts)
        near_misses = sum(part.questions for part in parts) - answerable
        rows.append((name, f"{len(parts)}", f"{answerable}", f"{near_misses}"))
    return Sheet("Fitted on", ("set", "collections", "answerable", "near misses"), tuple(rows))


def _markdown(sheet: Sheet) -> str:
    lines = (sheet.headings, ["---", *("---:" for _ in sheet.headings[1:])], *sheet.rows)
    return f"\n## {sheet.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


#: The side of the plot and the room around it, in user units; the radius of the largest dot.
_SIDE, _LEFT, _TOP, _RIGHT, _BOTTOM = 400, 64, 44, 20, 52
_LARGEST = 13.0
_STYLE = """
  .paper { fill: #ffffff } .text { fill: #24292f } .quiet { fill: #57606a } .band { fill: #0969da }
  .grid { stroke: #d0d7de } .diagonal { stroke: #57606a } .dot { fill: #0969da } .interval { stroke: #0969da }
  text { font: 13px system-ui, sans-serif } .title { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .text { fill: #e6edf3 } .quiet { fill: #9198a1 } .band { fill: #4493f8 }
    .grid { stroke: #30363d } .diagonal { stroke: #9198a1 } .dot { fill: #4493f8 } .interval { stroke: #4493f8 }
  }"""


def diagram(groups: Sequence[Tenth]) -> str:
    """The SVG; one dot a group, its area as its count, with the 95 % interval; on the diagonal both are the same."""
    width, height = _LEFT + _SIDE + _RIGHT, _TOP + _SIDE + _BOTTOM
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img" aria-labelledby="title">',
            '<title id="title">Probability predicted against the share that was right</title>',
            f"<style>{_STYLE}\n</style>",
            f'<rect class="paper" width="{width}" height="{height}" rx="6"/>',
            *_bands(),
            *_axes(),
            *_dots(groups),
            "</svg>",
        )
    )


def _x(value: float) -> str:
    return f"{_LEFT + _SIDE * value:.1f}"


def _y(value: float) -> str:
    return f"{_TOP + _SIDE * (1 - value):.1f}"


def _bands() -> Iterator[str]:
    """What is shown, darker the surer; below it only the closest passages are."""
    edges = (("closest", 0.0, STRICT, 0.0), ("low", STRICT, MEDIUM, 0.06), ("medium", MEDIUM, HIGH, 0.12))
    for name, low, high, opacity in (*edges, ("high", HIGH, 1.0, 0.2)):
        yield (
            f'<rect class="band" x="{_x(low)}" y="{_y(1)}" width="{_SIDE * (high - low):.1f}" height="{_SIDE}"'
            f' fill-opacity="{opacity}"/>'
        )
        yield f'<text class="quiet" x="{_x((low + high) / 2)}" y="{_TOP - 8}" text-anchor="middle">{name}</text>'


def _axes() -> Iterator[str]:
    for fifth in range(6):
        at = fifth / 5
        yield f'<line class="grid" x1="{_x(at)}" y1="{_y(0)}" x2="{_x(at)}" y2="{_y(1)}"/>'
        yield f'<line class="grid" x1="{_x(0)}" y1="{_y(at)}" x2="{_x(1)}" y2="{_y(at)}"/>'
        yield f'<text class="quiet" x="{_x(at)}" y="{_TOP + _SIDE + 18}" text-anchor="middle">{at:.1f}</text>'
        yield f'<text class="quiet" x="{_LEFT - 8}" y="{_y(at - 0.01)}" text-anchor="end">{at:.1f}</text>'
    yield (
        f'<line class="diagonal" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke-width="1.5"'
        ' stroke-dasharray="5 4"/>'
    )
    middle = _TOP + _SIDE / 2
    yield f'<text class="text" x="{_x(0.5)}" y="{_TOP + _SIDE + 40}" text-anchor="middle">predicted probability</text>'
    yield f'<text class="text" text-anchor="middle" transform="translate(20 {middle}) rotate(-90)">share right</text>'


def _dots(groups: Sequence[Tenth]) -> Iterator[str]:
    most = max((one.measured.of for one in groups), default=1)
    for one in groups:
        measured = one.measured
        x, low, high = _x(one.predicted), _y(measured.low or 0.0), _y(measured.high or 0.0)
        radius = max(3.0, _LARGEST * math.sqrt(measured.of / most))
        yield f'<line class="interval" x1="{x}" y1="{low}" x2="{x}" y2="{high}" stroke-width="1.5"/>'
        yield (
            f'<circle class="dot" cx="{x}" cy="{_y(measured.share or 0.0)}" r="{radius:.1f}" fill-opacity="0.8">'
            f"<title>predicted {one.predicted:.2f}, right {measured.found} of {measured.of}</title></circle>"
        )
