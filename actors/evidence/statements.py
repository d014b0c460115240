"""The statements of a span: each sentence, item and row with a claim, and the properties by which it is compared."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec

from actors.evidence.amounts import Amount, amounts
from actors.evidence.spans import share_held
from actors.evidence.thresholds import ROUGHLY_ALIKE_SHARE, SCOPE_CHARS, STATEMENT_WORDS
from actors.facts.numbers.values import TOKEN, read
from actors.facts.stems import stems
from bus.wire.messages import Span
from index.languages import LANGUAGES, of
from index.languages.folding import normal
from index.text.units import units


class StatedScope(msgspec.Struct, frozen=True):
    """`everybody`, else only some. `text` is the stretch that states it, as written."""

    everybody: bool
    text: str


def audience_of(sentence: str, language: str) -> StatedScope | None:
    """The scope that a sentence states; None when it states none, or both."""
    if language not in LANGUAGES:
        return None
    every, only = (pattern.search(sentence) for pattern in _patterns(language))
    match = every or only
    if match is None or (every and only):
        return None
    return StatedScope(every is not None, _stretch(sentence, match.start(), match.end()))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = of(language).terms.audience
    return re.compile(table.everybody, re.I), re.compile(table.only_some, re.I)


def _stretch(sentence: str, start: int, end: int) -> str:
    """Whole words around that position, within the clause."""
    left = re.split(r"[,;:，；：、،]", sentence[max(0, start - SCOPE_CHARS) : start])[-1]
    right = re.split(r"[.,;:。，；：、،!?؟]", sentence[end : end + SCOPE_CHARS])[0]
    if start > SCOPE_CHARS and len(left) == SCOPE_CHARS and " " in left:
        left = left.partition(" ")[2]
    if len(right) == SCOPE_CHARS and " " in right:
        right = right.rpartition(" ")[0]
    return (left + sentence[start:end] + right).strip()


#: A question or an introduction makes no claim.
_NO_CLAIM: Final = (":", "：", "?", "？", "؟")
_LIST_SIGN = re.compile(r"^[\s#>*•·–—-]*(?:\d{1,3}[.)]\s+)?")


class Claim(msgspec.Struct, frozen=True):
    """A sentence, item or row. `start` and `end` are offsets into the span. `words` are its words without the values.

    `around`: the words of the whole span; `about`: those of title and headings; `beside`: the other sentences of the span.
    `ends`: its first and its last word.
    """

    n: int
    start: int
    end: int
    source_id: str
    headings: tuple[str, ...]
    language: str
    text: str
    words: frozenset[str]
    around: frozenset[str]
    about: frozenset[str]
    beside: frozenset[str]
    ends: tuple[str, str]
    amounts: tuple[Amount, ...]
    scope: StatedScope | None


@lru_cache(maxsize=256)
def all_statements(span: Span) -> tuple[Claim, ...]:
    """The statements in order, kept: each span of the evidence is read more than once."""
    return tuple(statements(span))


def statements(span: Span, *, like: Sequence[str] = ()) -> Iterator[Claim]:
    """The statements in order; with `like`, only those that share rough terms with one of these texts, a quick test."""
    claims = [unit for unit in units(span.text, span.blocks, span.source_start) if unit.answers]
    texts = [_LIST_SIGN.sub("", span.text[unit.start : unit.end]).strip() for unit in claims]
    for unit, text in zip(claims, texts, strict=True):
        if like and not any(share_held(text, other) >= ROUGHLY_ALIKE_SHARE for other in like):
            continue
        stated = amounts(text)
        words = [
            stem for stem in stems(read(text).text) if not any(one.overlaps(stem.start, stem.end) for one in stated)
        ]
        if unit.kind == "code" or text.endswith(_NO_CLAIM) or len(words) < STATEMENT_WORDS:
            continue
        tokens = [match[0] for match in TOKEN.finditer(read(text).text)]
        yield Claim(
            n=span.n,
            start=unit.start,
            end=unit.end,
            source_id=span.source_id,
            headings=span.headings,
            language=span.language,
            text=text,
            words=frozenset(stem.stem for stem in words),
            around=_words(f"{span.title}\n{span.text}"),
            about=_words("\n".join((span.title, *span.headings))),
            beside=frozenset(other for other in texts if other != text),
            ends=(tokens[0], tokens[-1]),
            amounts=stated,
            scope=audience_of(text, span.language),
        )


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(stem.stem for stem in stems(normal(text)))
