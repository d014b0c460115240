"""Check each sentence while the model writes the next, and show the sentences that pass.

Three release policies: `sentence` shows what has passed the gate and the verifier, `draft` shows nothing here, `token` shows
at once and checks afterwards. Under every policy, the shown text has no thinking, is masked and links only to sources.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from actors.answering.citing import is_bare_answer, with_citations_of
from actors.answering.outgoing import Cleaning, Outgoing
from actors.answering.sentence_check import SentenceCheck, cited_in, on_wire
from actors.gate import flags as gate
from actors.gate.flags import Standing, standing
from actors.outcome.settling import is_barred
from actors.text.aligned import aligned
from actors.text.limit import ends_sentence
from actors.text.numbering import as_evidence
from bus.powers.events import Withheld
from bus.powers.protocols import Ask, Emit
from bus.wire.messages import AnswerRequested
from bus.wire.parts import Conflict, Flag, Sentence, Span
from bus.wire.settled import UnverifiedSentence
from index.text.citations import fences, markers, strip_markers
from index.text.sentences import SentenceStream, in_sentences
from prompts import notices
from prompts.notices import ConflictingValue
from prompts.thinking import Thinking

#: A sentence longer than this is checked and shown in parts, since the cost of a check grows with its length.
LONGEST = 1500
#: How long a sentence that has passed waits for the next, so that both are shown in one message; in seconds.
LINGER_S = 0.02
#: A model verifies one sentence first, then this many times as many in each call, so that calls stay few in any answer.
GROWTH, MOST_TOGETHER = 3, 100


class Sign(Enum):
    """A mark between the sentences on their way to the check."""

    TAKEN_BACK = "everything before was thinking"
    END = "no more"


class Earlier(NamedTuple):
    """What an earlier attempt has shown, the evidence's numbers behind its markers (empty where they are equal), and its marks."""

    text: str = ""
    cited: Sequence[int] = ()
    unverified: Sequence[UnverifiedSentence] = ()


NOTHING: Final = Earlier()


class CheckedStream:
    """One answer on its way to the client. After `run`, read `sentences`, `out` and `check`."""

    def __init__(
        self,
        request: AnswerRequested,
        ask: Ask,
        emit: Emit,
        *,
        cites: bool,
        cited_beside: bool = False,
        advice: str = "",
    ) -> None:
        """`cites`: the answer must cite; `cited_beside`: it lists its sources after its text; `advice`: what stands below it."""
        self.request = request
        self.release = request.question.release
        self.emit = emit
        self._ask = ask
        self.cleaning = Cleaning(request)
        self.check = SentenceCheck(request, ask, self.cleaning, cites=cites)
        self.out = Outgoing(request, emit, self.cleaning, waits=cites and not cited_beside)
        self.sentences: list[Sentence] = []
        #: Sentences that wait for a verdict, their own or that of one before them.
        self._waiting: list[tuple[Sentence, bool]] = []
        self._together = 1
        #: A first "No." that waits for the sentence that bears it out.
        self._answer: tuple[Sentence, bool] | None = None
        self._advice = advice
        #: The notice after the answer where the evidence disagrees with itself; empty for none.
        self.notice = self.cleaning.clean(notice_of(request))

    async def run(self, deltas: AsyncIterator[str], before: Earlier = NOTHING, *, whole: bool = False) -> None:
        """Consume an answer after what was shown `before`. `whole`: it is there at once, so one call verifies it."""
        self._together = MOST_TOGETHER if whole and self.check.by_model else 1
        if before.text:
            earlier = as_evidence(before.text, before.cited)
            self.sentences += self._earlier(in_sentences(earlier), before)
            self.out.resume(before.text, before.cited or sorted(cited_in(before.text)), self.sentences)
            conflicts, notice = self.concerning(earlier)
            if notice and earlier.endswith(notice):
                self.request, self.notice = replace(self.request, conflicts=conflicts), notice
                return
        waiting: asyncio.Queue[str | Sign] = asyncio.Queue()
        reading = asyncio.create_task(self._read(deltas, waiting))
        try:
            while (sentence := await waiting.get()) is not Sign.END:
                if not isinstance(sentence, str):
                    await self.out.flush()
                    self._take_back()
                elif not self.out.is_over:
                    await self._sentence(sentence)
                if waiting.empty():
                    await self.out.flush()
            if self._answer is not None:
                self._waiting.append(self._answer)
            await self._verify()
            await self.out.flush()  # what is ready is shown, also if the model fails
            await reading  # a task group would wrap the Failure that the actor's fallback handles
        finally:
            reading.cancel()
            await asyncio.wait([reading])
        self._advise()
        await self._disagreement()
        await self.out.finish()

    def _earlier(self, texts: Sequence[str], before: Earlier) -> Iterator[Sentence]:
        """The sentences of an earlier attempt. Those that it marked are unverified still, for the reasons that the gate has."""
        for text, (start, end) in zip(texts, aligned(before.text, texts), strict=True):
            flags: tuple[Flag, ...] = ()
            if any(each.answer_start < end and start < each.answer_end for each in before.unverified):
                why = gate.flag("unverified", text.strip(), (), "an earlier attempt showed it as unverified")
                found = self.check.flags(text)
                flags = found if standing(found) == "unverified" else (on_wire(why),)
            yield Sentence(text=text, flags=flags)

    async def _read(self, deltas: AsyncIterator[str], waiting: asyncio.Queue[str | Sign]) -> None:
        """Put the sentences of the answer into `waiting`; under `token`, also show every delta."""
        thinking, taken_back, stream = Thinking(), 0, SentenceStream()
        known = {strip_markers(sentence.text).strip() for sentence in self.sentences}

        def hand_on(sentences: Sequence[str]) -> None:
            for sentence in _parts(sentences):
                if not known or strip_markers(self.cleaning.clean(self.check.marked(sentence))).strip() not in known:
                    waiting.put_nowait(sentence)

        async def take(text: str) -> None:
            nonlocal taken_back, stream
            if thinking.taken_back > taken_back:
                taken_back, stream = thinking.taken_back, SentenceStream()
                if self.release == "token":
                    self.out.restart()
                self.out.spoil()
                waiting.put_nowait(Sign.TAKEN_BACK)
            if self.release == "token":
                await self.out.delta(text)
            hand_on(stream.feed(text))

        try:
            async for delta in deltas:
                await take(thinking.feed(delta))
                if self.out.is_over:
                    break
            await take(thinking.finish())
            if self.release == "token":
                await self.out.finish_deltas()
            rest = stream.finish()
            # The beginning of a sentence alone may mislead.
            hand_on(rest[:-1] if self._ask.cut_off and rest and not ends_sentence(rest[-1]) else rest)
        finally:
            waiting.put_nowait(Sign.END)
            if isinstance(deltas, AsyncGenerator):
                await deltas.aclose()  # the model stops

    def _take_back(self) -> None:
        """Forget the sentences that were thinking; where some were shown, the answer will be withdrawn."""
        self.sentences.clear()
        self._waiting.clear()
        self._answer = None
        self.check.contradictions.clear()
        if self.release != "token":
            self.out.restart()
        self.out.spoil()
        if self.out.spoiled:
            why = gate.flag("thinking", "", (), "what the model thought was shown before it said that it was thinking")
            self.sentences.append(Sentence(text="", flags=(on_wire(why),)))

    async def _sentence(self, written: str) -> None:
        # Without a model it is done at once.
        checks = asyncio.eager_task_factory(asyncio.get_running_loop(), self._check(written))
        try:
            if checks.done():
                await asyncio.sleep(0)
            else:
                await asyncio.wait([checks], timeout=LINGER_S)
            if not checks.done():
                await self.out.flush()
            await checks
        finally:
            checks.cancel()

    async def _check(self, written: str) -> None:
        """Check a sentence; it is verified with those before it once they are enough for a call. A first "No." that is not verified
        is checked again together with the next sentence.
        """
        checked = await self.check(written)
        if self._answer is not None:
            answer, self._answer = self._answer, None
            await self._rest(answer, written, checked)
            return
        if (
            not self.sentences
            and not self._waiting
            and self.release != "token"
            and is_bare_answer(written)
            and not self._stays(checked[0], "verified")
        ):
            self._answer = checked
            return
        await self._wait(checked)

    async def _rest(self, answer: tuple[Sentence, bool], written: str, checked: tuple[Sentence, bool]) -> None:
        """Rest a first "No." on the next sentence: verified in one with it, or citing what it cites if it is shown so."""
        together = await self.check(answer[0].text + written)
        cited = answer
        if self._stays(checked[0], "unverified") and markers(checked[0].text):
            cited = await self.check(with_citations_of(answer[0].text, checked[0].text))
        if self._stays(together[0], "verified"):
            await self._wait(together)
        elif self._stays(cited[0], "unverified"):
            await self._wait(cited, checked)
        elif self._stays(together[0], "unverified") and not self._stays(answer[0], "unverified"):
            await self._wait(together)
        else:
            await self._wait(answer, checked)

    async def _wait(self, *checked: tuple[Sentence, bool]) -> None:
        self._waiting += checked
        claims = sum(claims for _, claims in self._waiting)
        if not claims or claims >= self._together:
            await self._verify()

    def _stays(self, sentence: Sentence, least: Standing) -> bool:
        """Whether a sentence is shown, and has at `least` that standing."""
        shown = not sentence.withheld and not is_barred(sentence, self.request.question)
        return shown and (least == "unverified" or standing(sentence.flags) == "verified")

    async def _verify(self) -> None:
        """Verify the waiting sentences that make claims, in one call, and show all that pass."""
        waiting, self._waiting = self._waiting, []
        claims = [sentence for sentence, claims in waiting if claims]
        before = next((each.text for each in reversed(self.sentences) if not each.withheld), "")
        verified = iter(await self.check.verified(claims, before))
        if claims and self.check.by_model:
            self._together *= GROWTH
        for checked, claims_something in waiting:
            if self.out.is_over:
                break
            sentence = next(verified) if claims_something else checked
            if self.release == "sentence" and is_barred(sentence, self.request.question):
                sentence = replace(sentence, withheld=True)
            self.sentences.append(sentence)
            if self.release == "token":
                self.out.count_checked(sentence.text)
            elif self.release == "sentence" and sentence.withheld:
                flags = self.cleaning.flags(sentence.text, sentence.flags)
                await self.emit.aside(Withheld(content=self.cleaning.clean(sentence.text), flags=flags))
                self.out.skip(sentence)
            elif self.release == "sentence":
                self.out.sentence(sentence)

    def concerning(self, text: str) -> tuple[tuple[Conflict, ...], str]:
        """The conflicts with a side that the text cites, and their notice; all of them where it cites nothing."""
        if not self.request.conflicts:
            return (), ""
        cited = cited_in(text)
        conflicts = tuple(one for one in self.request.conflicts if not cited or {one.first_n, one.second_n} & cited)
        return conflicts, self.cleaning.clean(notice_of(replace(self.request, conflicts=conflicts)))

    def _answered(self) -> bool:
        """Whether a sentence is shown, and more may follow it."""
        answered = any(s.text.strip() and not s.withheld and standing(s.flags) != "withheld" for s in self.sentences)
        return answered and not (self.out.limit.cut is not UNSET or self.out.spoiled or self.out.holds)

    def _advise(self) -> None:
        """Add the profile's advice below an answer that a model wrote without it."""
        if not self._answered() or self._advice in "".join(each.text for each in self.sentences if not each.withheld):
            return
        below = Sentence(text=f"\n\n{self._advice}")
        self.sentences.append(below)
        if self.release != "draft":
            self.out.sentence(below)

    async def _disagreement(self) -> None:
        """Add the conflict notice after an answer, unless the gate flags it or the answer cites neither side."""
        if self.out.limit.cut is not UNSET:
            return
        conflicts, self.notice = self.concerning("".join(each.text for each in self.sentences if not each.withheld))
        self.request = replace(self.request, conflicts=conflicts)
        if not self.notice or not self._answered():
            return
        if any(standing(self.check.flags(claim)) == "withheld" for claim in claims_of(self.request)):
            self.notice = ""
            return
        # The wording is ours, so its weak flags say nothing about the answer.
        self.sentences += [Sentence(text=line) for line in in_sentences(self.notice)]
        if self.release != "draft":
            self.out.sentence(Sentence(text=self.notice))


def _parts(sentences: Sequence[str]) -> Iterator[str]:
    """The sentences, those beyond LONGEST cut at white space where there is some; one with code stays whole."""
    for sentence in sentences:
        rest = sentence
        while len(rest) > LONGEST and not fences(rest):
            at = rest.rfind(" ", LONGEST // 2, LONGEST) + 1 or LONGEST
            yield rest[:at]
            rest = rest[at:]
        yield rest


_TITLE_CHARS = 80


def notice_of(request: AnswerRequested) -> str:
    """The notice, set off from the answer before it; empty when nothing disagrees.

    An exercise gets none: a value in it might be the solution.
    """
    if request.style == "hint" or not request.conflicts:
        return ""
    by_n = {span.n: span for span in request.evidence}
    return "".join(
        "\n\n" + notices.conflict_notice(request.question.language, _values(sides, by_n))
        for sides in _disagreeing(request.conflicts)
    )


class _Side(NamedTuple):
    value: str
    n: int
    outdated: bool


def _disagreeing(conflicts: Iterable[Conflict]) -> list[list[_Side]]:
    """The sides that contradict one another, those that have one in common together; what is in force comes first."""
    found: list[list[_Side]] = []
    for one in conflicts:
        sides = [
            _Side(value, n, n == one.outdated_n) for value, n in ((one.first, one.first_n), (one.second, one.second_n))
        ]
        known = next((each for each in found if _settled(each) == _settled(sides) and {*each} & {*sides}), [])
        if not known:
            found.append(known)
        known += [side for side in sides if side not in known]
    return [sorted(each, key=lambda side: side.outdated) for each in found]


def _settled(sides: Iterable[_Side]) -> bool:
    return any(side.outdated for side in sides)


def claims_of(request: AnswerRequested) -> list[str]:
    """The claims of the notice, to be checked: each value with its citation. A source's name claims nothing."""
    return [
        f"{value} [{n}]"
        for one in request.conflicts
        for value, n in ((one.first, one.first_n), (one.second, one.second_n))
    ]


def _values(sides: Sequence[_Side], by_n: dict[int, Span]) -> list[ConflictingValue]:
    same = len({by_n[side.n].title for side in sides}) < len(sides)
    return [
        ConflictingValue(value=value, source=_source(by_n[n], by_path=same), outdated=outdated)
        for value, n, outdated in sides
    ]


def _source(span: Span, *, by_path: bool) -> str:
    """The source's title or path with its number; brackets are changed so that they do not read as a citation."""
    name = " ".join(strip_markers((not by_path and span.title) or span.source_id).split())
    return f"{name if len(name) <= _TITLE_CHARS else name[: _TITLE_CHARS - 1] + '…'} [{span.n}]"
