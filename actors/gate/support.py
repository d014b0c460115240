"""How surely the cited text says what a sentence says: signs that it does not, and learned weights that add them up.

A paraphrase uses other words than its evidence, so no single sign decides. Each sign is 0 for a sentence that is in the evidence
word for word and grows with what the evidence lacks; no weight is below 0, so a sentence never gains by leaving the evidence.
`tests/bench/fit_gate.py` makes `support.json` from sentences that people have labelled.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import Final

import msgspec

from actors.facts.reading import read
from actors.facts.stems import stems
from actors.gate.places import sentences_of
from actors.gate.thresholds import CHARACTER_RUNS, EVIDENCE_MOST, ROOT_SPARE_LETTERS
from index.languages.characters import is_arabic, is_han, is_hangul, normal
from index.text.citations import strip_markers

FILE: Final = Path(__file__).with_name("support.json")
#: What the evidence lacks, of 1: content words, of a sentence of the evidence with its neighbours; runs of characters.
SIGNS: Final = ("around", "phrases")
#: What may speak either way: how many characters the evidence has, as a logarithm, up to EVIDENCE_MOST.
SHAPE: Final = ("evidence",)
_SCRIPTS: Final = {"han": is_han, "hangul": is_hangul, "arabic": is_arabic}
#: A root has at least this many letters.
_ROOT: Final = {"": 4, "han": 2, "hangul": 2, "arabic": 3}


class Weights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`weights` of SIGNS and SHAPE; from the sum 0 on, with `bias`, a sentence goes beyond its evidence."""

    weights: dict[str, float]
    bias: float
    fitted_on: dict[str, int] = {}

    def sum(self, found: dict[str, float]) -> float:
        """What the signs of a sentence add up to."""
        return self.bias + sum(weight * found[name] for name, weight in self.weights.items())


#: Read when the gate is imported, since a check must not wait for a file.
LEARNED: Final = msgspec.json.decode(FILE.read_bytes(), type=Weights)


def goes_beyond(sentence: str, evidence: Sequence[str]) -> list[str]:
    """The words of a sentence that the evidence lacks, if they make it unlikely that the evidence says it; else none.

    The sentence has at least one content word (overlap.is_factual).
    """
    if not is_judged(sentence, evidence):
        return []
    text = normal(strip_markers(sentence)).strip()
    if LEARNED.sum(signs(sentence, evidence)) < 0:
        return []
    indexes = [_index(item) for item in evidence]
    missing = [text[word.start : word.end] for word in stems(text) if not any(one.where(word.stem) for one in indexes)]
    return list(dict.fromkeys(missing)) or [text]


def is_judged(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether signs can say anything of a sentence: one that is not in the evidence word for word."""
    text = normal(strip_markers(sentence)).strip()
    return not any(text in read(item).text for item in evidence)


def signs(sentence: str, evidence: Sequence[str]) -> dict[str, float]:
    """SIGNS and SHAPE of a sentence with at least one content word."""
    text = normal(strip_markers(sentence)).strip()
    words = [stem.stem for stem in stems(text)]
    held = [[one.where(word) for word in words] for one in map(_index, evidence)]
    script = Counter(script_of(word[0]) for word in words).most_common(1)[0][0]
    texts = [read(item).text for item in evidence]
    return {
        "around": 1 - max(map(_most, held)) / len(words),
        "phrases": _unseen(text, texts, CHARACTER_RUNS[script]),
        "evidence": log(min(sum(map(len, texts)), EVIDENCE_MOST) + 1),
    }


class _Index(msgspec.Struct, frozen=True):
    """Which sentences of a text have a word, as a number with one bit a sentence; by stem and by the root of the stem."""

    stems: dict[str, int]
    roots: dict[str, int]

    def where(self, stem: str) -> int:
        return self.stems.get(stem, 0) or self.roots.get(_root(stem), 0)


@lru_cache(maxsize=512)
def _index(text: str) -> _Index:
    known: dict[str, int] = {}
    roots: dict[str, int] = {}
    for at, sentence in enumerate(sentences_of(text)):
        for stem in sentence.stems:
            known[stem] = known.get(stem, 0) | 1 << at
            roots[_root(stem)] = roots.get(_root(stem), 0) | 1 << at
    return _Index(known, roots)


@lru_cache(maxsize=65536)
def _root(stem: str) -> str:
    """The beginning that forms of a word share; a pair of Chinese characters has no forms."""
    return stem[: max(_ROOT[script_of(stem[0])], len(stem) - ROOT_SPARE_LETTERS)]


def script_of(letter: str) -> str:
    """One of _ROOT."""
    return next((name for name, is_of in _SCRIPTS.items() if is_of(letter)), "")


def _most(masks: Sequence[int]) -> int:
    """How many words the sentence with most of them has, together with its two neighbours."""
    counts: Counter[int] = Counter()
    for mask in masks:
        left = mask | mask << 1 | mask >> 1
        while left:
            counts[left & -left] += 1
            left &= left - 1
    return max(counts.values(), default=0)


def _unseen(text: str, texts: Sequence[str], size: int) -> float:
    runs = {text[at : at + size] for at in range(max(1, len(text) - size + 1))}
    return sum(not any(run in known for known in texts) for run in runs) / len(runs)
