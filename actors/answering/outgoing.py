"""The text of an answer on its way to the client: made harmless, filtered, cut at the limit, and emitted as tokens.

Harmless is a text without links that lead to no source, without hidden markup, and masked where the profile asks for it. Sentences
arrive whole under the release policy `sentence`; under `token`, deltas arrive as the model writes them.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import compress
from typing import Protocol

from msgspec import UNSET

from actors.facts.copied_code import copied
from actors.gate.flags import standing
from actors.outcome.private import flags_shown
from actors.question.profile import profile_of
from actors.text.aligned import aligned, line_break
from actors.text.limit import TextLimit
from actors.text.links import defang
from actors.text.numbering import Numbering
from actors.text.safe_stream import SafeStream
from bus.powers.events import Stretch, tokens_of
from bus.powers.protocols import Emit
from bus.wire.messages import AnswerRequested, Draft
from bus.wire.parts import Flag, Sentence, Span
from index.languages.characters import visible
from index.masking import MaskStream, mask, values_in
from index.source_paths import published
from index.text.citations import INLINE_CODE, markers


class Cleaning:
    """Cleans the texts of one answer. `urls`: the addresses of its sources, which alone may stay."""

    def __init__(self, request: AnswerRequested | Draft) -> None:
        self.urls = frozenset(url for span in request.evidence if (url := published(span.url)))
        self._texts = texts_of(request.evidence)
        self._masked = profile_of(request.question.profile).mask_personal_data
        self._known = values_in(self._texts) if self._masked else frozenset[str]()

    def harmless(self, text: str) -> str:
        return harmless(text, self._texts, self.urls)

    def clean(self, text: str) -> str:
        return self.masked(self.harmless(text))

    def masked(self, text: str) -> str:
        return mask(text, known=self._known) if self._masked else text

    def flags(self, text: str, flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
        """The flags of a sentence, with the words that they quote masked."""
        return flags_shown(text, flags, self._known) if self._masked else flags

    def masks(self) -> MaskStream:
        return MaskStream(self._known, active=self._masked)


def texts_of(evidence: Sequence[Span]) -> list[str]:
    """The texts that an answer may quote: the spans, what introduces them and what they are called."""
    return [text for span in evidence for text in (span.text, span.intro, span.title, *span.headings) if text]


def harmless(text: str, evidence: Sequence[str], urls: Collection[str]) -> str:
    """`text` without links and markup that do not lead to a source; code copied from the evidence stays as it is."""
    parts: list[str] = []
    at = 0
    for start, end in _code(text, evidence):
        parts += [defang(text[at:start], urls, evidence), visible(text[start:end])]
        at = end
    return "".join([*parts, defang(text[at:], urls, evidence)])


def _code(text: str, evidence: Sequence[str]) -> list[tuple[int, int]]:
    """The code of `text` that the evidence contains letter by letter, in fences and in lines."""
    blocks = [(fence.start, fence.end) for fence in copied(text, evidence)]
    lines = [code.span() for code in INLINE_CODE.finditer(text) if any(code[0] in one for one in evidence)]
    return sorted(blocks + [(start, end) for start, end in lines if not any(a < end and start < b for a, b in blocks)])


class Outgoing:
    """`shown` is the text that the client has. `spoiled`: thinking was shown, so nothing more is."""

    def __init__(self, request: AnswerRequested, emit: Emit, cleaning: Cleaning, *, waits: bool) -> None:
        """`waits`: under `sentence`, uncited sentences wait for the first cited one."""
        self.shown = ""
        self.spoiled = False
        self._ready: list[str] = []
        self._passed: list[Sentence] = []
        self._request = request
        self._emit = emit
        self._cleaning = cleaning
        self._waits = waits and request.question.release == "sentence"
        self._begin()
        self._compose(waits=self._waits)

    def resume(self, before: str, cited: Sequence[int], sentences: Sequence[Sentence]) -> None:
        """Continue after `before`, which an earlier attempt has shown. `cited`: the evidence's numbers behind its own."""
        self.shown = before
        self._passed = list(sentences)
        self._begin(before, cited)
        self._compose(before, waits=False)

    def restart(self) -> None:
        """Begin again: everything before was thinking."""
        self._passed.clear()
        if not self.shown:
            self._begin()
        self._compose(waits=self._waits)

    def spoil(self) -> None:
        self.spoiled = self.spoiled or bool(self.shown)

    def _begin(self, before: str = "", cited: Sequence[int] = ()) -> None:
        question = self._request.question
        evidence = frozenset(span.n for span in self._request.evidence)
        self._numbers = Numbering(evidence, cited, active=question.renumbered)
        self.limit = TextLimit(question.constraints, before)
        #: Under `token`, the check is behind the text shown: it ends with the sentence that reaches the limit.
        self._checked = TextLimit(question.constraints, before)

    def _compose(self, before: str = "", *, waits: bool) -> None:
        harmless, masks = self._cleaning.harmless, self._cleaning.masks()
        masks.before = before
        self._hold = CitationHold(active=waits)
        self._sentences = Chain(self._hold, Each(harmless), masks, self._numbers)
        self._deltas = Chain(SafeStream(harmless), masks, self._numbers)
        self._cut = TokenCut()

    @property
    def holds(self) -> bool:
        """Whether no sentence has cited a source yet, so that none was shown."""
        return self._hold.active

    @property
    def is_over(self) -> bool:
        """Whether the checked text has reached the limit, so that the model may stop."""
        return (self._checked if self._request.question.release == "token" else self.limit).cut is not UNSET

    @property
    def cited(self) -> tuple[int, ...]:
        """The evidence's numbers behind those of the text shown."""
        return tuple(self._numbers.cited) if self._request.question.renumbered else ()

    def count_checked(self, sentence: str) -> None:
        self._checked.take(tokens_of(self._cleaning.clean(sentence)))

    def sentence(self, sentence: Sentence) -> None:
        """Add a sentence that has passed; `flush` shows it."""
        self._passed.append(sentence)
        self._ready += self.limit.take(tokens_of(self._sentences.feed(sentence.text)))

    def skip(self, sentence: Sentence) -> None:
        """Leave out a sentence, but not the line break behind it."""
        if self._passed and (gap := line_break(self._passed[-1].text, sentence.text)):
            self.sentence(Sentence(text=gap))

    async def delta(self, text: str) -> None:
        self._ready += self.limit.take(self._cut.feed(self._deltas.feed(text)))
        await self.flush()

    async def finish_deltas(self) -> None:
        self._ready += self.limit.take([*self._cut.feed(self._deltas.finish()), *self._cut.finish()])
        await self.flush()

    async def finish(self) -> None:
        self._ready += self.limit.take(tokens_of(self._sentences.finish()))
        await self.flush()

    async def flush(self) -> None:
        """Show what is ready, as one message."""
        ready, self._ready = self._ready, []
        if ready and not self.spoiled:
            await self._emit.tokens(ready, cited=self.cited, unverified=self._unverified(ready))
            self.shown += "".join(ready)

    def _unverified(self, ready: Sequence[str]) -> list[Stretch]:
        """The stretches of these tokens that belong to unverified sentences."""
        if not any(each.flags for each in self._passed):
            return []
        marked = [standing(each.flags) == "unverified" for each in self._passed]
        before = len(self.shown)
        places = aligned(self.shown + "".join(ready), [self._cleaning.masked(each.text) for each in self._passed])
        return [(start - before, end - before) for start, end in compress(places, marked)]


class TokenCut:
    """Cuts deltas into tokens, however the deltas were cut: the last token waits until it is complete."""

    def __init__(self) -> None:
        self._tail = ""

    def feed(self, text: str) -> list[str]:
        """The tokens that became complete."""
        *complete, self._tail = tokens_of(self._tail + text) or [""]
        return complete

    def finish(self) -> list[str]:
        rest, self._tail = self._tail, ""
        return [rest] if rest else []


class TextFilter(Protocol):
    """Takes a text in deltas and returns the filtered text in deltas, wherever the text was cut."""

    def feed(self, text: str, /) -> str:
        """The part of the filtered text that is certain by now; may be empty."""

    def finish(self) -> str:
        """The rest."""


class Chain:
    """Filters in order, used as one."""

    def __init__(self, *filters: TextFilter) -> None:
        self._filters = filters

    def feed(self, text: str) -> str:
        for each in self._filters:
            text = each.feed(text)
        return text

    def finish(self) -> str:
        rest = ""
        for each in self._filters:
            rest = (each.feed(rest) if rest else "") + each.finish()
        return rest


class Each:
    """Applies a function to every delta by itself."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self.feed = change

    def finish(self) -> str:
        return ""


class CitationHold:
    """Keeps sentences back until one cites a source. A text without a citation never leaves."""

    def __init__(self, *, active: bool) -> None:
        self.active = active
        self._text = ""

    def feed(self, sentence: str) -> str:
        self._text += sentence
        if self.active and not markers(sentence):
            return ""
        self.active = False
        released, self._text = self._text, ""
        return released

    def finish(self) -> str:
        return ""
