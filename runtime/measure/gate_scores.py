"""How well a check tells contradicted answers from supported ones."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import get_args

import msgspec

from actors.gate.check import check_answer, check_sentence, withholds
from actors.gate.flags import Flag, Standing, standing
from actors.gate.overlap import overlap
from index.text.citations import markers
from prompts.contracts import Evidence
from runtime.measure.lines import BadLine, decoded


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered piece of evidence; only its number and its text are needed."""

    n: int
    text: str
    source_id: str = ""
    title: str = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to check. `language` is the language required of it, used by `gate`; only evaluation sets have a `label`."""

    id: str
    answer: str
    evidence: tuple[Item, ...]
    language: str | None = None
    label: str | None = None

    def numbered(self) -> tuple[Evidence, ...]:
        return tuple(
            Evidence(n=item.n, source_id=item.source_id, title=item.title, text=item.text) for item in self.evidence
        )


_FORM = 'each line must be {"id": "…", "answer": "…", "evidence": [{"n": 1, "text": "…"}]}'


def read_lines(lines: Iterable[str | bytes]) -> Iterator[Line]:
    """The lines in order, blank ones skipped.

    Raises: BadLine when it reaches a bad one.
    """
    for number, line in decoded(lines, Line, _FORM):
        numbers = [item.n for item in line.evidence]
        if len(set(numbers)) < len(numbers):
            raise BadLine(f"line {number}: two pieces of evidence have the same n; number them 1, 2, 3…")
        yield line


CONTRADICTED = "contradicted"
SUPPORTED = "supported"
# The share of supported answers that a useful check may withhold.
MAY_WITHHOLD = 0.10


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Precision, recall and F1, 0 to 1; 0 where there is nothing to divide by."""

    precision: float
    recall: float
    f1: float
    flagged: int


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: its label, the kinds of its flags, whether it was withheld, the overlap of its words, 0 to 1."""

    id: str
    label: str
    kinds: tuple[str, ...]
    withheld: bool
    overlap: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """`withheld` is the share of each label that was withheld; `labels` scores withheld as contradicted and passed as
    supported; `flags` scores each kind of flag as a sign of contradiction; `overlap_fair` is the word overlap whose
    threshold withholds no more of the supported than the gate does or than MAY_WITHHOLD, whichever is more;
    `overlap_best` the one with the best F1 at any cost.
    """

    answers: int
    counts: dict[str, int]
    withheld: dict[str, float]
    labels: dict[str, Score]
    flags: dict[str, Score]
    overlap_fair: Score
    overlap_fair_withheld: float
    overlap_best: Score
    overlap_best_withheld: float
    ms_per_answer: float


def outcome(line: Line) -> Outcome:
    """The gate's result for one answer."""
    flags = check_answer(line.answer, line.numbered())
    return Outcome(
        id=line.id,
        label=line.label or "",
        kinds=tuple(sorted({flag.kind for flag in flags})),
        withheld=withholds(flags),
        overlap=overlap(line.answer, [evidence.text for evidence in line.evidence]),
    )


def cited(line: Line) -> str:
    """The sentence of a line with marks for all its evidence, if it has none of its own."""
    return line.answer if markers(line.answer) else line.answer + "".join(f"[{item.n}]" for item in line.evidence)


def report(outcomes: Sequence[Outcome], *, ms_per_answer: float) -> Report:
    counts = Counter(one.label for one in outcomes)
    withheld = {
        label: sum(one.withheld for one in outcomes if one.label == label) / count for label, count in counts.items()
    }
    kinds = sorted({kind for one in outcomes for kind in one.kinds})
    fair, fair_withheld = _overlap(outcomes, at_most=max(MAY_WITHHOLD, withheld.get(SUPPORTED, 0.0)))
    best, best_withheld = _overlap(outcomes, at_most=1.0)
    return Report(
        answers=len(outcomes),
        counts=dict(sorted(counts.items())),
        withheld=dict(sorted(withheld.items())),
        labels={
            CONTRADICTED: score((one.label == CONTRADICTED, one.withheld) for one in outcomes),
            SUPPORTED: score((one.label == SUPPORTED, not one.withheld) for one in outcomes),
        },
        flags={kind: score((one.label == CONTRADICTED, kind in one.kinds) for one in outcomes) for kind in kinds},
        overlap_fair=fair,
        overlap_fair_withheld=fair_withheld,
        overlap_best=best,
        overlap_best_withheld=best_withheld,
        ms_per_answer=ms_per_answer,
    )


def score(pairs: Iterable[tuple[bool, bool]]) -> Score:
    seen = Counter(pairs)
    right, said, so = seen[True, True], seen[True, True] + seen[False, True], seen[True, True] + seen[True, False]
    return Score(
        precision=right / said if said else 0.0,
        recall=right / so if so else 0.0,
        f1=2 * right / (said + so) if said + so else 0.0,
        flagged=said,
    )


def _overlap(outcomes: Sequence[Outcome], *, at_most: float) -> tuple[Score, float]:
    """Score withholding below a threshold of word overlap: the one with the best F1 for contradicted that withholds at most the
    share `at_most` of the supported. Returns that share too."""
    supported = [one.overlap for one in outcomes if one.label == SUPPORTED]
    best, best_withheld = score((one.label == CONTRADICTED, False) for one in outcomes), 0.0
    for threshold in sorted({one.overlap for one in outcomes}):
        lost = sum(overlap <= threshold for overlap in supported) / len(supported) if supported else 0.0
        if lost > at_most:
            break
        found = score((one.label == CONTRADICTED, one.overlap <= threshold) for one in outcomes)
        if found.f1 > best.f1:
            best, best_withheld = found, lost
    return best, best_withheld


class Sentences(msgspec.Struct, frozen=True, kw_only=True):
    """Supported sentences of a language, or all others: how many, and the shares of each standing and of each kind of flag."""

    sentences: int
    standings: dict[Standing, float]
    flags: dict[str, float]


def standings(lines: Sequence[Line]) -> dict[str, tuple[Sentences, Sentences]]:
    """For each language, and for all of them under "all": the supported sentences and the others."""
    checked = [(line, check_sentence(cited(line), line.numbered())) for line in lines]
    languages = sorted({line.language or "" for line in lines})
    return {
        language or "none": (_shares(checked, languages, supported=True), _shares(checked, languages, supported=False))
        for language, languages in (*((one, (one,)) for one in languages), ("all", languages))
    }


def _shares(
    checked: Sequence[tuple[Line, tuple[Flag, ...]]], languages: Collection[str], *, supported: bool
) -> Sentences:
    own = [
        flags
        for line, flags in checked
        if (line.label == SUPPORTED) == supported and (line.language or "") in languages
    ]
    found = Counter(map(standing, own))
    kinds = Counter(kind for flags in own for kind in {one.kind for one in flags})
    return Sentences(
        sentences=len(own),
        standings={name: found[name] / max(1, len(own)) for name in get_args(Standing)},
        flags={kind: count / max(1, len(own)) for kind, count in sorted(kinds.items())},
    )
