"""How much of a sentence the evidence shares, by words: what is foreign to it, and the baseline that the other checks must beat."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from actors.facts.reading import read
from actors.facts.stems import Stem, stems
from actors.gate.places import is_near, sentences_of
from actors.gate.terms import language_of
from actors.gate.thresholds import CELL_LABEL_WORDS, CITED_WORDS, CLOSEST_SENTENCE_SHARE, LISTED_WORDS, NEAR_MEANING
from index.languages import UNDETERMINED, union
from index.languages.characters import normal
from index.languages.detection import detect
from index.languages.meaning import nearness
from index.text.citations import strip_markers

_SECRETS: Final = union(lambda language: rf"(?<![a-z])(?:{language.terms.addresses.secrets})", re.NOFLAG)
_ENDS = re.compile(r"[.!?。！？؟]\Z")
# Text that makes no claim: questions, labels, headings, courtesies.
_NO_STATEMENT = re.compile(r"[?？؟:：]\s*[\"'”’»)]*\s*\Z|\A\s*(?:#|\|[\s|:-]*\Z|[-*_]{3,}\s*\Z)")


def overlap(sentence: str, evidence: Sequence[str]) -> float:
    """The share (0..1) of the sentence's content words that are in `evidence`; 1 for a sentence without any."""
    words = stems(normal(strip_markers(sentence)))
    return 1.0 - len(_missing(words, evidence)) / len(words) if words else 1.0


def foreign(sentence: str, evidence: Sequence[str], share: float = 1.0) -> list[str]:
    """Some of the words that the evidence lacks, when its closest sentence has few words of this one, and all of it at most the
    `share`; else none.

    Words are only compared within a language: there are none for a sentence in another language than the evidence.
    """
    if not evidence or is_header(sentence):
        return []
    text = normal(strip_markers(sentence))
    words = stems(text)
    if (
        len(words) < CITED_WORDS
        or is_near(text, evidence, CLOSEST_SENTENCE_SHARE)
        or not _comparable(sentence, evidence)
    ):
        return []
    missing = _missing(words, evidence)
    if len(words) - len(missing) > share * len(words):
        return []
    missing = missing or list(words)
    return [text[word.start : word.end] for word in missing[:LISTED_WORDS]]


def means_nearly(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether a sentence of `evidence` has nearly the same subject in other words."""
    parts = [part.text for text in evidence for part in sentences_of(text)]
    return max(nearness(normal(strip_markers(sentence)), parts), default=0.0) >= NEAR_MEANING


def secrets(sentence: str, evidence: Sequence[str]) -> list[str]:
    """The secrets that the sentence names, in any language, when the evidence names none."""
    named = [one[0] for one in _SECRETS.finditer(normal(sentence))]
    return [] if named and any(_SECRETS.search(normal(text)) for text in evidence) else named


def _comparable(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether the sentence is in the language of all the evidence, or shares no script with any of it."""
    language = detect(sentence)
    return all(language_of(text) in (language, UNDETERMINED) for text in evidence)


def is_factual(sentence: str) -> bool:
    """Whether the sentence claims something that evidence could support: not a question, label, heading or courtesy."""
    plain = strip_markers(sentence)
    return not _NO_STATEMENT.search(plain) and not is_header(sentence) and len(stems(normal(plain))) >= 2


def is_header(sentence: str) -> bool:
    """Whether the sentence is a row of a Markdown table with nothing but labels in it, as its header is."""
    row, *rest = sentence.strip().split("\n")
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    return (
        row.startswith("|")
        and not any(any(map(str.isalnum, line)) for line in rest)
        and not any(
            len(cell.split()) > CELL_LABEL_WORDS or any(map(str.isdigit, cell)) or _ENDS.search(cell) for cell in cells
        )
    )


def _missing(words: tuple[Stem, ...], evidence: Sequence[str]) -> list[Stem]:
    known = [_known(text) for text in evidence]
    return [word for word in words if not any(word.stem in one for one in known)]


@lru_cache(maxsize=512)
def _known(text: str) -> frozenset[str]:
    return frozenset(stem.stem for stem in stems(read(text).text))
