"""The text of an answer on its way to the client: filtered, cut at the limit, and emitted as tokens.

Sentences arrive whole under the release policy `sentence`; under `token`, deltas arrive as the model writes them.
"""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Protocol

from msgspec import UNSET

from actors.answering.cleaning import Cleaning
from actors.gate.flags import standing
from actors.text.limit import TextLimit
from actors.text.links import SafeStream
from actors.text.numbering import Numbering, aligned, line_break
from bus.powers.events import Stretch, tokens_of
from bus.powers.protocols import Emit
from bus.wire.messages import AnswerRequested, Sentence
from index.text.citations import markers


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
        self._ready += self.limit.finish()
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
