"""The texts that people read, from the `notices.toml` of their language.

A question in another language gets the fallback language. Values put into a text are cut to a sensible length and one
line.
"""

import functools
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from index.languages import spoken
from index.languages.names import named
from prompts.vocabulary import DeclinedKind, Reason

Label = Literal["source", "summary", "conclusion", "arguments"]
LONGEST_VALUE = 300  # characters of a value inside a text
#: How a model is connected.
SETUP = "`GROUNDWIRE_INFERENCE_ENGINE`, docs/models.md"


class ConflictingValue(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a disagreement between sources. `source` is shown as given. `outdated`: the source is out of date."""

    value: str
    source: str
    outdated: bool = False


def reason_text(reason: Reason, language: str, *, missing: Sequence[str] = (), refuse_reason: str = "") -> str:
    """Why there is no answer. `missing` is used for `insufficient`, `refuse_reason` for `model_refused`."""
    if reason == "insufficient" and (named := _listed(missing, language)):
        return text("reasons", "insufficient_missing", language).format(missing=named)
    if reason == "model_refused" and (why := _one_line(refuse_reason)):
        return text("reasons", "model_refused_because", language).format(refuse_reason=why)
    return text("reasons", reason, language)


def nothing_sure(reason: Reason, language: str, *, missing: Sequence[str] = (), refuse_reason: str = "") -> str:
    """Why nothing is claimed although something near was found."""
    if reason in ("no_results", "low_relevance", "no_evidence"):
        return text("replies", "closest", language)
    return reason_text(reason, language, missing=missing, refuse_reason=refuse_reason)


def closest(said: str, language: str, *, languages: Sequence[str] = ()) -> str:
    """The text before the closest passages. `languages`: those of the documents, if the question is in none of them."""
    parts = [said]
    if languages:
        named_ones = named(tuple(languages), language)
        parts.append(text("replies", "closest_languages", language).format(languages=named_ones))
    parts.append(text("replies", "closest_passages", language))
    return functools.reduce(_followed, parts)


def _followed(one: str, next_one: str) -> str:
    """Two sentences in a row; a full-width full stop brings its own space."""
    spaced = one[-1:].isspace() or unicodedata.east_asian_width(one[-1:] or " ") == "W"
    return one + ("" if spaced else " ") + next_one


def declined_text(kind: DeclinedKind, language: str) -> str:
    """The direct reply to a message that is not a question about the documents."""
    return text("declined", kind, language).format(setup=SETUP)


def none_passes(language: str, filter: str) -> str:
    """The answer when no document passes the filter of a question."""
    return text("replies", "none_passes", language).format(filter=_one_line(filter))


def safe_reply(language: str, ids: Sequence[str | int] = ()) -> str:
    """The text that replaces an answer without a usable citation, followed by the ids that do exist, in order."""
    reply = text("replies", "safe", language)
    if not ids:
        return reply
    named = comma(language).join(_one_line(str(one)) for one in ids)
    return f"{reply} {text('replies', 'safe_sources', language).format(ids=named)}"


def conflict_notice(language: str, values: Iterable[ConflictingValue]) -> str:
    """A line saying that the sources disagree, or that one is out of date, then one line per value with its source."""
    values = list(values)
    lines = [text("replies", "conflict_outdated" if any(one.outdated for one in values) else "conflict", language)]
    for one in values:
        key = "conflict_value_outdated" if one.outdated else "conflict_value"
        parts = {"value": _one_line(one.value), "source": _one_line(one.source)}
        lines.append(f"- {text('replies', key, language).format(**parts)}")
    return "\n".join(lines)


def label(name: Label, language: str) -> str:
    """A heading or lead-in for the layout of an answer, without punctuation."""
    return text("labels", name, language)


def comma(language: str) -> str:
    """The separator between items of an enumeration, including its space."""
    return text("punctuation", "comma", language)


def text(section: str, key: str, language: str) -> str:
    """One text as its file has it, with the names in braces unfilled."""
    return spoken(language).notices[section][key]


def _listed(items: Sequence[str], language: str) -> str:
    return comma(language).join(line for item in items if (line := _one_line(item).rstrip(".。؟?")))


def _one_line(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= LONGEST_VALUE else line[: LONGEST_VALUE - 1].rstrip() + "…"
