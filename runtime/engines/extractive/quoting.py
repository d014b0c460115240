"""Turn slices of evidence into sentences of an answer: on one line, without other markers, `[n]` before the full stop."""

import re
from dataclasses import dataclass

from actors.gate.check import check_sentence, withholds
from index.languages.detection import detect
from index.languages.scripts import HAN
from index.sentences import split
from prompts.contracts import Evidence
from runtime.engines.extractive.answerable import unlike
from runtime.engines.extractive.headings import says_nothing
from runtime.engines.extractive.queries import parts_of
from runtime.engines.extractive.ranking import Ranked, best_of, rank
from runtime.engines.extractive.words import terms

#: Besides the best sentence of each span, others are quoted from this probability on.
WORTH_SAYING = 0.08
#: Separates the cells of a row, which is quoted only where it answers best: next to a sentence it is a fragment.
ROW = " | "
#: A sentence with fewer content words says nothing on its own: a heading, a caption, a row of a table.
FEWEST_TERMS = 2

_FOREIGN_MARKER = re.compile(r"\s?[\[［【][\d٠-٩０-９\s,،、，;–-]{1,40}[\]］】]")
_LIST_MARK = re.compile(r"^(?:[#>*•·|–—-]+\s+|\d{1,2}[.)]\s+(?=\S))+")
_ENDING = re.compile(r"[.!?。！？؟…;；:：,،]+$")
_CLOSED = re.compile(r"[.!?。！？؟…][\"'”’»」』)）\]]+$")
_WIDE_STOP = re.compile(rf"[{HAN}][\"'”’»」』)）]*$")
_CLAUSE_ENDS = (", ", "; ", "，", "；", "、", "، ")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence to quote and the evidence it is from. `cited`: the sentence as quoted, with its marker."""

    evidence: Evidence
    text: str
    cited: str
    covered: float
    score: float
    position: int


def quote(question: str, evidence: tuple[Evidence, ...], language: str, most_chars: int = 0) -> list[Quoted]:
    """The sentences worth quoting, best first: the best of each span and others that are as likely to answer.

    Only sentences in `language` if there are any, and none that the gate would withhold. Long ones are cut at a
    clause to `most_chars`; 0 for no limit.
    """
    texts = tuple(e.text for e in evidence)
    ranked = best_of([rank(part, texts) for part in parts_of(question, language)])
    if unlike(ranked) and detect(question) in {detect(e.text) for e in evidence}:
        return []
    found = _found(ranked, evidence, most_chars, FEWEST_TERMS) or _found(ranked, evidence, most_chars, 0)
    # A span shows its language better than one short sentence of it.
    own = [q for q in found if detect(q.evidence.text) in (language, "und")]
    return own or found


def _found(ranked: list[Ranked], evidence: tuple[Evidence, ...], most_chars: int, fewest_terms: int) -> list[Quoted]:
    said: set[int] = set()
    found: list[Quoted] = []
    for k, r in enumerate(ranked):
        if r.read.passage in said and (ROW in r.text or (k > 0 and r.probability < WORTH_SAYING)):
            continue
        quoted = _quoted(r, evidence[r.read.passage], most_chars, fewest_terms)
        if quoted is not None:
            said.add(r.read.passage)
            found.append(quoted)
    return found


def in_reading_order(quoted: list[Quoted]) -> list[Quoted]:
    return sorted(quoted, key=lambda q: (q.evidence.n, q.position))


def clean(text: str) -> str:
    """`text` on one line, without leading list marks and without bracketed numbers that would read as citations."""
    return _LIST_MARK.sub("", " ".join(_FOREIGN_MARKER.sub("", text).split())).rstrip(" |")


def cite(text: str, n: int) -> str:
    """The sentence `text` with its marker before the final full stop, which is added if missing.

    It begins with a capital, as a lower-case word after a full stop would read as the same sentence.
    """
    text = clean(text)
    if text.split(" ", 1)[0].islower():
        text = text[0].upper() + text[1:]
    if _CLOSED.search(text):
        return f"{text} [{n}]."
    ending = _ENDING.search(text)
    body = text[: ending.start()].rstrip() if ending else text
    stop = ending.group() if ending and ending.group()[0] in ".!?。！？؟…" else "。" if _WIDE_STOP.search(body) else "."
    space = "" if stop[0] in "。！？" else " "
    return f"{body}{space}[{n}]{stop}"


def shorten(text: str, limit: int) -> str:
    """The beginning of `text`, at most `limit` characters, cut at a clause or else at a word."""
    text = clean(text)
    if len(text) <= limit:
        return text
    clause = max(text.rfind(mark, 0, limit) for mark in _CLAUSE_ENDS)
    word = text.rfind(" ", 0, limit)
    return text[: clause if clause > limit // 3 else word if word > limit // 2 else limit].rstrip(" ,;，；、،")


def _quoted(r: Ranked, evidence: Evidence, most_chars: int, fewest_terms: int) -> Quoted | None:
    text = shorten(r.text, most_chars - len(f" [{evidence.n}].")) if most_chars else clean(r.text)
    if len(terms(text)) < fewest_terms or (fewest_terms and says_nothing(r.text)) or not any(map(str.isalnum, text)):
        return None
    # Lines that were one sentence on several lines may be several on one.
    cited = " ".join(cite(text[start:end], evidence.n) for start, end in split(text))
    if withholds(check_sentence(cited, (evidence,))):
        return None
    return Quoted(evidence, text, cited, r.covered, r.score, r.read.position)
