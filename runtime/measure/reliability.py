"""Draw a reliability diagram: the probability predicted against the share that was right, as an SVG for light and dark pages."""

import math
from collections.abc import Iterator, Sequence

from actors.choosing.confidence import HIGH, MEDIUM
from runtime.measure.fit_figures import STRICT, Tenth

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
