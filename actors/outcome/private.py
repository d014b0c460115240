"""The end of a run as it leaves the house: personal data masked in the answer and in all that stands beside it."""

from collections.abc import Collection, Iterable

import msgspec

from bus.messages import Flag, Settled, WithheldSentence
from index.masking.parts import masked
from index.masking.text import mask, values_in


def private(settled: Settled, *, shown: str) -> Settled:
    """`settled` with its personal data masked; the part of the answer that was `shown` was masked then, and stays as it is."""
    rest = settled.answer.removeprefix(shown)
    before = settled.answer.removesuffix(rest)
    known = values_in([*(c.cited_text for c in settled.citations), *(p.text for p in settled.passages)])
    withheld = tuple(
        WithheldSentence(text=mask(s.text, known=known), flags=flags_shown(s.text, s.flags, known))
        for s in settled.withheld
    )
    whole = masked(msgspec.structs.replace(settled, answer="", withheld=withheld))
    return msgspec.structs.replace(whole, answer=before + mask(rest, before, known))


def flags_shown(text: str, flags: Iterable[Flag], known: Collection[str] = ()) -> tuple[Flag, ...]:
    """The flags of a sentence with the words they name as they stand in the masked sentence: part of a number is one too."""
    hidden = mask(text, known=known)
    if hidden == text:
        return tuple(flags)
    return tuple(_shown(flag, text, hidden) for flag in flags)


def _shown(flag: Flag, text: str, hidden: str) -> Flag:
    at = text.find(flag.words) if flag.words else -1
    words = mask(flag.words) if at < 0 else hidden[at : at + len(flag.words)]
    return msgspec.structs.replace(
        flag, words=words, why=mask(flag.why.replace(flag.words, words) if flag.words else flag.why)
    )
