"""Two versions of a prompt over the same inputs: the pair of results for each input, and the paired differences of their counts."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import msgspec

from actors.gate.flags import standing
from bus.runs.run_record import record_of
from bus.runs.story import RunStory
from index.languages.characters import HAN
from index.masking import masked
from prompts.contracts import PROMPTS
from runtime.measure.question_figures import Interval, interval

_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")
_REPLIES = {prompt.name: prompt.reply_type() for prompt in PROMPTS}


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What one version made of a run: the text that a person sees, the fields of its replies in JSON, and what is counted."""

    version: str
    text: str
    fields: dict[str, list[Any]]
    counts: dict[str, float]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A run under both versions. `input`: what the model was asked; empty where the whole pipeline was."""

    id: str
    question: str
    input: str = ""
    a: Side
    b: Side


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The means of a count under both versions, and that of the paired differences B - A."""

    a: float
    b: float
    difference: Interval


def side_of(story: RunStory, prompt: str = "") -> Side:
    """One side of a pair, by the replies to a prompt; by all replies, and the answer, where the whole pipeline was asked."""
    asks = sorted((ask for ask in story.asks if prompt in ("", ask.prompt)), key=lambda ask: ask.variables)
    counts: dict[str, float] = {
        "valid replies": fmean(not ask.failure and ask.text.strip() != "" for ask in asks) if asks else 1.0,
        "calls": sum(ask.calls for ask in asks if not ask.cached),
        "tokens in": sum(ask.tokens_in for ask in asks),
        "tokens out": sum(ask.tokens_out for ask in asks),
        "seconds": sum(ask.took_s for ask in asks),
    }
    text, fields = "\n\n".join(ask.failure or ask.text for ask in asks), dict[str, list[Any]]()
    record = record_of(story) if not prompt or prompt.startswith("answer_") else None
    if record is not None:
        text = record.answer or record.detail
        sentences = story.draft.sentences if story.draft else ()
        became = Counter("withheld" if one.withheld else standing(one.flags) for one in sentences)
        counts |= {
            "refused or closest": record.outcome != "answered",
            "citations": len({citation.n for citation in record.citations}),
            "words": len(_WORD.findall(text)) if record.outcome == "answered" else 0,
            **{f"sentences {each}": became[each] for each in ("verified", "unverified", "withheld")},
        }
    elif _REPLIES[prompt] is not str:
        for ask in asks:
            for name, value in ({} if ask.failure else msgspec.json.decode(ask.text)).items():
                fields.setdefault(name, []).append(value)
    side = Side(
        version=next((ask.version for ask in asks if prompt and ask.version), ""),
        text=text,
        fields=fields,
        counts=counts,
    )
    return masked(side) if any(question.masked for question in story.questions) else side


def differences(pairs: Sequence[Pair]) -> dict[str, Difference]:
    """A row for each count."""
    rows = {name: [(pair.a.counts[name], pair.b.counts[name]) for pair in pairs] for name in pairs[0].a.counts}
    return {
        name: Difference(
            a=fmean(a for a, _ in row), b=fmean(b for _, b in row), difference=interval([b - a for a, b in row])
        )
        for name, row in rows.items()
    }


def fields_differing(pairs: Iterable[Pair]) -> dict[str, tuple[int, int]]:
    """By field of the replies: in how many of how many pairs of valid replies the versions differ."""
    both = [(pair.a.fields, pair.b.fields) for pair in pairs if pair.a.fields and pair.b.fields]
    names = dict.fromkeys(name for a, b in both for name in (*a, *b))
    return {name: (sum(a.get(name) != b.get(name) for a, b in both), len(both)) for name in names}
