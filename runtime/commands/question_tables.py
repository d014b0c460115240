"""How `groundwire eval questions` prints its figures."""

import msgspec
from rich.table import Table

from runtime.measure.question_figures import Counts, Figures, Share


def table(measured: Figures, title: str) -> Table:
    """A row per figure."""
    near = measured.questions - measured.answerable
    found = Table(
        title=f"{title}: {measured.answerable} answerable questions, {near} near misses", title_justify="left"
    )
    for heading in ("", "share", "95 %", "count"):
        found.add_column(heading, justify="right" if heading else "left", no_wrap=True)

    def row(name: str, one: Share) -> None:
        if one.share is None or one.low is None or one.high is None:
            found.add_row(name, "-", "", "0 of 0")
        else:
            found.add_row(name, f"{one.share:.3f}", f"{one.low:.3f} to {one.high:.3f}", f"{one.found} of {one.of}")

    row("right of what is shown as an answer", measured.right_of_shown)
    row("right of the answerable", measured.right)
    row("beside the point", measured.beside)
    row("closest passages only", measured.closest)
    row("refused", measured.refused)
    row("failed, of all", measured.failed)
    row("helped: right, or gold among the closest", measured.helped)
    row("near misses shown an answer", measured.near_misses_shown)
    found.add_section()
    row("confidence high: right", measured.high_right)
    row("confidence high, of the answerable", measured.high_of_answerable)
    row("confidence medium: right", measured.medium_right)
    row("confidence low: right", measured.low_right)
    row("too long", measured.too_long)
    found.add_section()
    found.add_row("answer, weights: median, longest", *_pair(measured.weight_median, measured.weight_longest, 1))
    found.add_row(
        "closest, weights: median, longest", *_pair(measured.closest_weight_median, measured.closest_weight_longest, 1)
    )
    found.add_row("first word, ms: p50, p95", *_pair(measured.first_word_p50_s, measured.first_word_p95_s, 1000))
    return found


def _pair(first: float | None, second: float | None, times: int) -> list[str]:
    return ["-" if value is None else f"{value * times:,.0f}" for value in (first, second)]


def counted(group: str, of: dict[str, Counts]) -> Table:
    """A row of counts per group."""
    found = Table(group, *(name.replace("_", " ") for name in Counts.__struct_fields__), box=None)
    for name, one in of.items():
        found.add_row(name, *map(str, msgspec.structs.astuple(one)))
    return found
