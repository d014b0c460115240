"""The notice shown when the evidence disagrees: each value with its source, the outdated one marked."""

from bus.wire.messages import AnswerRequested, Conflict, Span
from index.text.citations import strip_markers
from prompts import notices
from prompts.notices import ConflictingValue

_TITLE_CHARS = 80


def notice_of(request: AnswerRequested) -> str:
    """The notice, set off from the answer before it; empty when nothing disagrees.

    An exercise gets none: a value in it might be the solution.
    """
    if request.style == "hint" or not request.conflicts:
        return ""
    by_n = {span.n: span for span in request.evidence}
    return "".join(
        "\n\n" + notices.conflict_notice(request.question.language, _values(conflict, by_n))
        for conflict in request.conflicts
    )


def claims_of(request: AnswerRequested) -> list[str]:
    """The claims of the notice, to be checked: each value with its citation. A source's name claims nothing."""
    return [
        f"{value} [{n}]"
        for one in request.conflicts
        for value, n in ((one.first, one.first_n), (one.second, one.second_n))
    ]


def _values(conflict: Conflict, by_n: dict[int, Span]) -> list[ConflictingValue]:
    """Both sides, the one in force first where the other is out of date."""
    sides = [(conflict.first, conflict.first_n), (conflict.second, conflict.second_n)]
    sides.sort(key=lambda side: side[1] == conflict.outdated_n)
    return [
        ConflictingValue(value=value, source=_source(by_n[n]), outdated=n == conflict.outdated_n) for value, n in sides
    ]


def _source(span: Span) -> str:
    """The source's name with its number; brackets in a title are changed so that they do not read as a citation."""
    name = " ".join(strip_markers(span.title or span.source_id).split())
    return f"{name if len(name) <= _TITLE_CHARS else name[: _TITLE_CHARS - 1] + '…'} [{span.n}]"
