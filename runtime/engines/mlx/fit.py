"""Shorten a prompt that exceeds the model's context, as its fields declare (`prompts.contracts`).

Evidence loses its tail first, as it is ordered best first; then retrieved passages and analyses lose theirs; then the
conversation its oldest turns. The question is never shortened: a prompt that is too long without all of these fails.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from prompts.contracts import Prompt
from prompts.fields import shortened


def fit(variables: Prompt[Any], fits: Callable[[Prompt[Any]], bool]) -> tuple[Prompt[Any], str] | None:
    """The variables, shortened as little as needed, and what was left out; None if they cannot fit."""
    said = []
    for name, rule in shortened(type(variables)):
        tail = not rule.oldest
        items = getattr(variables, name)
        if not items:
            continue
        kept = _most(variables, name, tail, fits)
        fewer = _with(variables, name, items, tail, kept)
        said.append(f"{name} {kept} of {len(items)}")
        variables = fewer
        if fits(variables):
            return variables, ", ".join(said)
    return None


def _most(variables: Prompt[Any], name: str, tail: bool, fits: Callable[[Prompt[Any]], bool]) -> int:
    """The largest number of items with which the prompt fits; 0 if it never does."""
    items = getattr(variables, name)
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_with(variables, name, items, tail, middle)):
            low = middle
        else:
            high = middle - 1
    return low


def _with(variables: Prompt[Any], name: str, items: tuple[Any, ...], tail: bool, kept: int) -> Prompt[Any]:
    part = items[:kept] if tail else items[len(items) - kept :]
    return msgspec.structs.replace(variables, **{name: part})
