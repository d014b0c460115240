"""Mask personal data in the end of a run: in the answer and in everything published with it."""

from collections.abc import Collection, Iterable

import msgspec
from msgspec import UNSET

from bus.runs.citing import placed
from bus.wire.parts import Flag
from bus.wire.settled import Settled, WithheldSentence
from index.masking import mask, masked, values_in


def private(settled: Settled, *, shown_text: str) -> Settled:
    """`settled` with its personal data masked; the part of the answer that was `shown_text` was masked then, and stays as it is."""
    rest = settled.answer.removeprefix(shown_text)
    before = settled.answer.removesuffix(rest)
    known = values_in([*(c.cited_text for c in settled.citations), *(p.text for p in settled.passages)])

    def at(place: int) -> int:
        """Where that place of the answer is in the masked one."""
        done = min(place, len(before))
        return done + len(mask(settled.answer[done:place], before, known))

    withheld = tuple(
        WithheldSentence(text=mask(s.text, known=known), flags=flags_shown(s.text, s.flags, known))
        for s in settled.withheld
    )
    cited = {c.n: c.cited_text for c in settled.citations}
    conflicts = tuple(
        msgspec.structs.replace(
            one, first=_in(cited.get(one.first_n, ""), one.first), second=_in(cited.get(one.second_n, ""), one.second)
        )
        for one in settled.conflicts
    )
    unverified = tuple(
        msgspec.structs.replace(
            s,
            text=mask(s.text, known=known),
            answer_start=at(s.answer_start),
            answer_end=at(s.answer_end),
            flags=flags_shown(s.text, s.flags, known),
        )
        for s in settled.unverified or ()
    )
    changed = {"withheld": withheld, "conflicts": conflicts, "unverified": unverified or UNSET}
    whole = masked(msgspec.structs.replace(settled, answer="", withdrawn=UNSET, **changed))
    answer = before + mask(rest, before, known)
    citations = whole.citations if answer == settled.answer else placed(whole.citations, answer)

    return msgspec.structs.replace(whole, answer=answer, withdrawn=settled.withdrawn, citations=citations)


def flags_shown(text: str, flags: Iterable[Flag], known: Collection[str] = ()) -> tuple[Flag, ...]:
    """The flags of a sentence with their words as the masked sentence has them, also for part of a number."""
    return tuple(_masked_flag(flag, _in(text, flag.words, known)) for flag in flags)


def _masked_flag(flag: Flag, words: str) -> Flag:
    why = flag.why.replace(flag.words, words) if flag.words else flag.why
    return msgspec.structs.replace(flag, words=words, why=mask(why))


def _in(text: str, part: str, known: Collection[str] = ()) -> str:
    """A part of `text` as the masked text has it."""
    at = text.find(part) if part else -1
    return mask(part, known=known) if at < 0 else mask(text, known=known)[at : at + len(part)]
