"""Hold each sentence until it has passed, then show it: an answer's stream, checked while the next sentence is generated.

Three release policies: `sentence` shows what has passed the gate and the verifier, `draft` shows nothing here, `token` shows
at once and checks afterwards. Under every policy, what is shown is no thinking, is masked and links only to sources.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Sequence
from enum import Enum
from typing import Final

from msgspec import UNSET

from actors.answering.conflict_notice import claims_of, notice_of
from actors.evidence.prompt_shapes import evidence_of
from actors.facts.copied_code import copied
from actors.gate import flags as gate
from actors.gate.check import check_sentence, stands_alone
from actors.outcome.admissions import excused, is_admission
from actors.outcome.private import flags_shown
from actors.question.profile import in_language, profile_of
from actors.text.limit import Limit
from actors.text.links import defang
from actors.text.numbering import Numbering, as_evidence, plain
from actors.text.safe_stream import SafeStream
from bus.powers.events import Withheld, tokens_of
from bus.powers.protocols import Ask, Emit
from bus.wire.errors import Failure
from bus.wire.messages import AnswerRequested, Contradiction, Flag, Sentence
from index.languages.detection import detect
from index.languages.folding import visible
from index.masking.stream import MaskStream
from index.masking.text import mask, values_in
from index.source_paths import published
from index.text.citations import markers
from index.text.fences import fences
from index.text.sentences import SentenceStream
from prompts import contracts
from prompts.thinking import Thinking, without_thinking

#: A sentence longer than this is checked and shown in parts, since the cost of a check grows with its length.
LONGEST = 1500


class Sign(Enum):
    """What stands between the sentences on their way to the check."""

    TAKEN_BACK = "everything before was thinking"
    END = "no more"


class CheckedStream:
    """One answer on its way to the client. After `run`, read `sentences`, `shown` and `contradictions`."""

    def __init__(
        self, request: AnswerRequested, ask: Ask, emit: Emit, *, cites: bool, cited_beside: bool = False
    ) -> None:
        self.request = request
        self.ask = ask
        self.emit = emit
        self.release = request.question.release
        profile = profile_of(request.question.profile)
        self.verify = profile.verify and self.release == "sentence"
        self._mask = profile.mask_personal_data
        self._known = values_in(span.text for span in request.evidence) if self._mask else frozenset[str]()
        self._advice = in_language(profile.safety_advice, request.question.language)
        self._evidence = evidence_of(request.evidence)
        self._texts = [span.text for span in request.evidence]
        self._urls = frozenset(url for span in request.evidence if (url := published(span.url)))
        self._cites = cites and request.question.style != "hint"  # a hint's nudges are nobody's words
        #: The notice after the answer where the evidence disagrees with itself; empty for none.
        self.notice = self._clean(notice_of(request))
        self._masks = MaskStream(self._known, active=self._mask)
        self._numbers = self._numbering()
        self.limit = Limit(request.question.constraints)
        #: Under `token`, what is shown is ahead of what is checked: the check ends with the sentence that reaches the limit.
        self._checked = Limit(request.question.constraints)
        self.sentences: list[Sentence] = []
        self.contradictions: list[Contradiction] = []
        self.shown = ""
        #: Uncited sentences wait until a cited one has passed: an answer that cites nothing is never shown.
        self._waits: Final = cites and not cited_beside
        self._holds = self._waits
        self._held = ""
        self._spoiled = False  # thinking was shown: nothing more is, and the answer will be withdrawn

    @property
    def cited(self) -> tuple[int, ...]:
        """The evidence's numbers behind those of what was shown."""
        return tuple(self._numbers.cited) if self.request.question.renumbered else ()

    async def run(self, pieces: AsyncIterator[str], *, before: str = "", cited: Sequence[int] = ()) -> None:
        """Consume an answer in pieces. `before`: the part of it that an earlier attempt has already shown, `cited` its numbers."""
        self.shown = self._masks.before = before
        if before:
            self.limit = Limit(self.request.question.constraints, before)
            self._checked = Limit(self.request.question.constraints, before)
            self._holds = False
            self._numbers = self._numbering(cited or sorted(cited_in(before)))
            said = as_evidence(before, cited)
            self.sentences += [Sentence(text=text) for text in _cut(said)]
            if self.notice and said.endswith(self.notice):
                return
        waiting: asyncio.Queue[str | Sign] = asyncio.Queue()
        taking = asyncio.create_task(self._take(pieces, waiting))
        try:
            while (sentence := await waiting.get()) is not Sign.END:
                if not isinstance(sentence, str):
                    self._take_back()
                elif not self._is_over():
                    await self._sentence(sentence)
            await taking  # a task group would wrap the Failure that the actor's fallback handles
        finally:
            taking.cancel()
            await asyncio.wait([taking])
        await self._disagreement()
        await self._say(self._numbers.feed(self._masks.finish()) + self._numbers.finish())
        await self._tell(self.limit.finish())

    def _is_over(self) -> bool:
        """Whether the limit is reached by what has been checked, so that nothing more is wanted of the model."""
        return (self._checked if self.release == "token" else self.limit).cut is not UNSET

    async def _disagreement(self) -> None:
        """Add the conflict notice after an answer, unless the gate flags it."""
        if self.limit.cut is not UNSET:
            return
        answered = any(s.text.strip() and not s.withheld and not _strong(s.flags) for s in self.sentences)
        if not self.notice or not answered or self._spoiled or (self._holds and self.release == "sentence"):
            return
        if any(_strong(self.flags(claim)) for claim in claims_of(self.request)):
            self.notice = ""
            return
        lines = _cut(self.notice)
        # The wording is ours, so its weak flags say nothing about the answer.
        self.sentences += [Sentence(text=line) for line in lines]
        if self.release != "draft":
            await self._show(self.notice)

    async def _take(self, pieces: AsyncIterator[str], waiting: asyncio.Queue[str | Sign]) -> None:
        thinking, taken_back = Thinking(), 0
        stream, flow, cut = SentenceStream(), SafeStream(self._harmless), Cut()
        known = {plain(sentence.text.strip()) for sentence in self.sentences}

        def hand_on(sentences: Sequence[str]) -> None:
            for sentence in _parts(sentences):
                if not known or plain(self._clean(sentence).strip()) not in known:
                    waiting.put_nowait(sentence)

        async def take(text: str) -> None:
            nonlocal taken_back, stream, flow, cut
            if thinking.taken_back > taken_back:
                taken_back = thinking.taken_back
                stream, flow, cut = SentenceStream(), SafeStream(self._harmless), Cut()
                if self.release == "token":
                    self._begin_again()
                waiting.put_nowait(Sign.TAKEN_BACK)
                self._spoiled = self._spoiled or bool(self.shown)
            if self.release == "token":
                await self._say_all(cut.feed(self._numbers.feed(self._masks.feed(flow.feed(text)))))
            hand_on(stream.feed(text))

        try:
            async for piece in pieces:
                await take(thinking.feed(piece))
                if self._is_over():
                    break
            await take(thinking.finish())
            if self.release == "token":
                rest = self._masks.feed(flow.finish()) + self._masks.finish()
                rest = self._numbers.feed(rest) + self._numbers.finish()
                await self._say_all([*cut.feed(rest), *cut.finish()])
            hand_on(stream.finish())
        finally:
            waiting.put_nowait(Sign.END)
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()  # the model stops

    def _take_back(self) -> None:
        """Forget what turned out to be thinking; what was shown of it makes the answer one to withdraw."""
        self.sentences.clear()
        self.contradictions.clear()
        self._holds, self._held = self._waits, ""
        if self.release != "token":
            self._begin_again()
        self._spoiled = self._spoiled or bool(self.shown)
        if self._spoiled:
            why = gate.flag("thinking", "", (), "what the model thought was shown before it said that it was thinking")
            self.sentences.append(Sentence(text="", flags=(_on_wire(why),)))

    def _begin_again(self) -> None:
        self._masks = MaskStream(self._known, active=self._mask)
        if not self.shown:
            self._numbers = self._numbering()
            self.limit = Limit(self.request.question.constraints)
            self._checked = Limit(self.request.question.constraints)

    async def _sentence(self, written: str) -> None:
        text = self._harmless(written)  # check what people will read: markup can hide a number
        flags = self.flags(text, written)
        if self.release == "sentence" and {flag.kind for flag in flags if flag.strength == "strong"} <= {"unsupported"}:
            text, flags = await self._translated(text, flags)
        withheld = _strong(flags)
        alone = self._cites and not (self._is_advice(text) or is_admission(text)) and stands_alone(text, self._evidence)
        if alone and self.release == "token":
            why = gate.flag("unsupported", text.strip(), (), "cites nothing, and most of it is not in the evidence")
            flags = (_on_wire(why), *flags)
        dropped = alone or any(flag.kind == "empty" for flag in flags)
        if (
            self.release == "sentence"
            and not (withheld or dropped)
            and self.verify
            and _is_prose(text)
            and not self._is_advice(text)
        ):
            withheld = await self._contradicted(text)
        withheld = (withheld and self.release == "sentence") or (dropped and self.release != "token")
        self.sentences.append(Sentence(text=text, flags=flags, withheld=withheld))
        if self.release == "token":
            self._checked.take(tokens_of(self._clean(text)))
        if withheld and self.release == "sentence":
            told = flags_shown(text, flags, self._known) if self._mask else flags
            await self.emit.aside(Withheld(content=self._clean(text), flags=told))
        elif self.release == "sentence":
            self._held += text
            if not self._holds or markers(text):
                self._holds = False
                await self._show(self._held)
                self._held = ""

    def flags(self, text: str, written: str | None = None) -> tuple[Flag, ...]:
        """The gate's flags for a sentence; `written` is what it was before it was made harmless."""
        if self._is_advice(text) and written in (None, text):
            return ()
        question = self.request.question
        return flags_of(text, self._evidence, question.language, written=written, urls=self._urls, asked=question.asked)

    def _is_advice(self, text: str) -> bool:
        """Whether these are the profile's own words, which need no support from a document."""
        return bool(text.strip()) and text.strip() in self._advice

    async def _translated(self, text: str, flags: tuple[Flag, ...]) -> tuple[str, tuple[Flag, ...]]:
        """A sentence in the wrong language, translated back by the guard and checked again."""
        if not any(flag.kind == "wrong_language" for flag in flags):
            return text, flags
        language = self.request.question.language
        try:
            translated = await self.ask(contracts.GuardLanguage(text=text, target_language=language))
        except Failure:
            return text, flags
        written = without_thinking(translated).strip()
        translated = self._harmless(written) + text[len(text.rstrip()) :]
        if detect(translated) != language or cited_in(translated) != cited_in(text):
            return text, flags
        return translated, self.flags(translated, written)

    async def _contradicted(self, text: str) -> bool:
        """Whether the verifier finds a strong contradiction in this sentence; what it found is kept."""
        try:
            verdict = await self.ask(
                contracts.VerifyAnswer(answer=text, evidence=self._evidence, language=self.request.question.language)
            )
        except Failure:
            return False  # it has passed the gate, and the verifier alone never refuses
        found = contradictions_of(verdict)
        self.contradictions += found
        return any(c.type == "direct_negation" for c in found)

    async def _show(self, text: str) -> None:
        await self._say(self._numbers.feed(self._masks.feed(self._harmless(text))))

    async def _say(self, clean: str) -> None:
        await self._say_all(tokens_of(clean))

    async def _say_all(self, tokens: Sequence[str]) -> None:
        await self._tell(self.limit.take(tokens))

    async def _tell(self, tokens: Sequence[str]) -> None:
        if self._spoiled or not tokens:
            return
        await self.emit.tokens(tokens, cited=self.cited)
        self.shown += "".join(tokens)

    def _clean(self, text: str) -> str:
        clean = self._harmless(text)
        return mask(clean, known=self._known) if self._mask else clean

    def _numbering(self, cited: Sequence[int] = ()) -> Numbering:
        evidence = frozenset(span.n for span in self.request.evidence)
        return Numbering(evidence, cited, active=self.request.question.renumbered)

    def _harmless(self, text: str) -> str:
        return harmless(text, self._texts, self._urls)


def harmless(text: str, evidence: Sequence[str], urls: Collection[str]) -> str:
    """`text` without links and markup that do not lead to a source; code copied from the evidence stays as it is."""
    pieces: list[str] = []
    at = 0
    for fence in copied(text, evidence):
        pieces += [defang(text[at : fence.start], urls), visible(text[fence.start : fence.end])]
        at = fence.end
    return "".join([*pieces, defang(text[at:], urls)])


def flags_of(
    text: str,
    evidence: Sequence[contracts.Evidence],
    language: str,
    *,
    written: str | None = None,
    urls: Collection[str] = (),
    asked: str = "",
) -> tuple[Flag, ...]:
    """The gate's flags for a sentence; an admission of uncertainty may deny and need not cite."""
    found = check_sentence(text, evidence, language=language, written=written, urls=urls, asked=asked)
    return excused(text, tuple(map(_on_wire, found)))


def _on_wire(found: gate.Flag) -> Flag:
    return Flag(kind=found.kind, strength=found.strength, words=found.words, evidence_n=found.evidence_n, why=found.why)


def contradictions_of(verdict: contracts.Verdict) -> list[Contradiction]:
    return [
        Contradiction(
            type=c.type, severity=c.severity, claim=c.claim, evidence_ref=c.evidence_ref, explanation=c.explanation
        )
        for c in verdict.contradictions
    ]


def cited_in(text: str) -> set[int]:
    """The numbers that a text's markers name; a translation must name the same ones."""
    return {number for marker in markers(text) for number in marker.numbers}


def _strong(flags: tuple[Flag, ...]) -> bool:
    return any(flag.strength == "strong" for flag in flags)


class Cut:
    """Splits a text that arrives in pieces into tokens, however it was cut: the last token waits until it is certain."""

    def __init__(self) -> None:
        self._tail = ""

    def feed(self, text: str) -> list[str]:
        """The tokens that became certain."""
        *certain, self._tail = tokens_of(self._tail + text) or [""]
        return certain

    def finish(self) -> list[str]:
        rest, self._tail = self._tail, ""
        return [rest] if rest else []


def _parts(sentences: Sequence[str]) -> Iterator[str]:
    """The sentences, with those beyond LONGEST cut at white space where there is some; one with code stays whole."""
    for sentence in sentences:
        rest = sentence
        while len(rest) > LONGEST and not fences(rest):
            at = rest.rfind(" ", LONGEST // 2, LONGEST) + 1 or LONGEST
            yield rest[:at]
            rest = rest[at:]
        yield rest


def _cut(text: str) -> list[str]:
    stream = SentenceStream()
    return [*stream.feed(text), *stream.finish()]


def _is_prose(text: str) -> bool:
    """Whether there is something to verify: headings and separators make no claim."""
    stripped = text.strip()
    return bool(stripped) and not stripped.startswith("#") and any(c.isalnum() for c in stripped)
