"""A cell's value as a person sees it: dates as ISO, numbers by their format, without grouping of thousands."""

import re
from datetime import datetime, time
from functools import cache
from typing import NamedTuple

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[^\]]*)?\]|\[[^\]]*\]|_.|\*.')
_DIGITS = re.compile(r"[0#?,]+(?:\.([0#?]+))?")


class _Pattern(NamedTuple):
    before: str
    decimals: int | None  # None: as many as the number has
    least_digits: int
    percent: bool
    after: str


def shown(value: object, number_format: str = "General") -> str:
    """The text of one cell; an empty one is ''."""
    match value:
        case bool():
            return str(value).upper()
        case int() | float():
            return _number(value, number_format)
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
        case time():
            return value.isoformat("minutes" if not value.second else "seconds")
    return "" if value is None else str(value).strip()


def _number(value: float, number_format: str) -> str:
    pattern = _pattern(number_format)
    amount = value * 100 if pattern.percent else value
    if pattern.decimals is None:
        digits = str(int(amount)) if float(amount).is_integer() and abs(amount) < 1e15 else f"{amount:.12g}"
    else:
        digits = f"{abs(amount):.{pattern.decimals}f}"
        whole, point, rest = digits.partition(".")
        digits = ("-" if amount < 0 else "") + whole.zfill(pattern.least_digits) + point + rest
    return f"{pattern.before}{digits}{'%' if pattern.percent else ''}{pattern.after}".strip()


@cache
def _pattern(number_format: str) -> _Pattern:
    """The first section of a format such as `#,##0.00 "€";-0`; one that is not understood shows the number as it is."""
    section = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', number_format)[0]
    if section.lower() == "general" or "@" in section or re.search(r"[eE][+-]|\?/|[0#]/[0#]", section):
        return _Pattern("", None, 0, percent=False, after="")
    literal = _LITERAL.sub(lambda found: (found[1] or found[2] or found[3] or "").replace("%", ""), section)
    digits = _DIGITS.search(literal)
    if digits is None or re.search(r"[ymdhs]", re.sub(_LITERAL, "", section), re.IGNORECASE):
        return _Pattern("", None, 0, percent="%" in section, after="")
    fraction = digits[1] or ""
    return _Pattern(
        before=literal[: digits.start()].lstrip("(-"),
        decimals=None if "#" in fraction or "?" in fraction else len(fraction),
        least_digits=digits[0].partition(".")[0].count("0"),
        percent="%" in section,
        after=literal[digits.end() :].replace("%", "").rstrip(")"),
    )
