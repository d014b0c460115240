"""What documents say about a claim: the sentences, items and rows of passages that share most of its words, rare ones first."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

import msgspec

from actors.checking.claims import Claim, parts
from actors.checking.report import CheckedSpan
from actors.evidence.section import introductions
from actors.facts.stems import stems
from bus.wire.messages import Passage
from index.languages.folding import normal
from index.text.units import units
from prompts.contracts import Evidence

type Stems = frozenset[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """`text` is `start..end` of the passage's text. `intro` introduces it and is not in it. `own`: its content words.

    `around`: those of the title, the headings above and the introduction, and of the sentence before it or the rest of its item.
    """

    passage: Passage
    start: int
    end: int
    text: str
    intro: str
    kind: str
    own: Stems
    around: Stems

    def evidence(self, n: int) -> Evidence:
        at = self.passage
        return Evidence(n=n, source_id=at.source_id, title=at.title, text=self.text, intro=self.intro)

    def shown(self, against: str) -> CheckedSpan:
        at = self.passage
        return CheckedSpan(
            source_id=at.source_id,
            title=at.title or at.source_id,
            url=at.url,
            page=at.page,
            start=at.char_start + self.start,
            end=at.char_start + self.end,
            text=self.text,
            against=against,
        )


def words_of(text: str) -> Stems:
    return frozenset(stem.stem for stem in stems(normal(text)))


def spans_of(passage: Passage) -> tuple[Candidate, ...]:
    """The spans of one passage in order; headings and table headers are none."""
    # Without what differs from search to search, so that a passage is read once.
    return _spans(msgspec.structs.replace(passage, score=0.0, coverage=None, cosine=None, rerank_score=None))


@lru_cache(maxsize=512)
def _spans(passage: Passage) -> tuple[Candidate, ...]:
    told = introductions(passage)
    title = words_of(passage.title)
    path = [(level, words_of(heading)) for level, heading in enumerate(passage.headings, 1)]
    levels = {block.start - passage.char_start: block.level for block in passage.blocks if block.kind == "heading"}
    before: Stems = frozenset()
    found: list[Candidate] = []
    for unit in units(passage.text, passage.blocks, passage.char_start):
        written = passage.text[unit.start : unit.end]
        if unit.kind == "heading":
            level = max(levels.get(unit.start, 1), 1)
            path = [above for above in path if above[0] < level] + [(level, words_of(written))]
            before = frozenset()
            continue
        if not unit.answers:
            continue
        stretch = (unit.intro[0] + passage.char_start, unit.intro[1] + passage.char_start) if unit.intro else None
        intro = told.get(stretch, "") if stretch else ""
        above = title.union(words_of(intro), *(words for _, words in path))
        whole = words_of(written)
        for start, end in parts(unit, written):
            text = written[start:end]
            around = above | (before if end - start == len(written) else whole)
            at, kind = unit.start + start, "prose" if unit.kind == "code" and end < len(written) else unit.kind
            found.append(Candidate(passage, at, unit.start + end, text, intro, kind, words_of(text), around))
        before = whole
    return tuple(found)


def density(wanted: Stems, text: str) -> float:
    """How close together the wanted words of `text` are: their share of the words in the shortest stretch that has them all."""
    words = [stem.stem for stem in stems(normal(text))]
    places = [at for at, word in enumerate(words) if word in wanted]
    missing, seen = len({words[at] for at in places}), Counter[str]()
    shortest, first = len(words) + 1, 0
    for at in places:
        seen[words[at]] += 1
        while len(seen) == missing:
            left = places[first]
            shortest = min(shortest, at - left + 1)
            seen[words[left]] -= 1
            if not seen[words[left]]:
                del seen[words[left]]
            first += 1
    return missing / shortest if places else 0.0


class Found:
    """The spans of some passages, to be ranked for claims.

    `coverage`: the largest share of the claim that a passage has, where the passages were searched for that claim.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.coverage = max((one.coverage for one in passages if one.coverage is not None), default=None)
        self.spans = [span for passage in passages for span in spans_of(passage)]
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for at, span in enumerate(self.spans):
            for stem in span.own:
                self._holders[stem].append(at)

    def weight(self, stem: str) -> float:
        """How rare a word is in these spans; that of a word in none of them is the largest."""
        return log(1 + len(self.spans) / (1 + len(self._holders.get(stem, ())))) + 0.1

    def nearest(self, claim: Claim, most: int) -> list[Candidate]:
        """The spans that share words with the claim, best first. What stands around a span counts half."""
        wanted = words_of(claim.text)
        lead = words_of(claim.lead) - wanted
        scores: Counter[int] = Counter()
        for words, share in ((wanted, 1.0), (lead, 0.2)):
            for stem in words:
                for at in self._holders.get(stem, ()):
                    scores[at] += self.weight(stem) * share  # type: ignore[assignment]  # a Counter of floats
        for at in list(scores):
            around = self.spans[at].around - self.spans[at].own
            scores[at] += sum(self.weight(stem) for stem in wanted & around) / 2  # type: ignore[assignment]
        ranked = sorted(scores, key=lambda at: (-scores[at], len(self.spans[at].own), at))
        # Passages overlap, and documents copy one another: one of each text.
        return list({self.spans[at].text: self.spans[at] for at in reversed(ranked[: 3 * most])}.values())[
            : -most - 1 : -1
        ]


@lru_cache(maxsize=4)
def found_in(passages: tuple[Passage, ...]) -> Found:
    """The spans of these passages; given ones are the same for each claim of a text."""
    return Found(passages)
