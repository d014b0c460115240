"""Make a text harmless: without links that lead to no source, without hidden markup, and masked where the profile asks for it."""

from collections.abc import Collection, Sequence

from actors.facts.copied_code import copied
from actors.outcome.private import flags_shown
from actors.question.profile import profile_of
from actors.text.links import INLINE_CODE, defang
from bus.wire.messages import AnswerRequested, Draft, Flag, Span
from index.languages.folding import visible
from index.masking import MaskStream, mask, values_in
from index.source_paths import published
from index.text.citations import strip_markers


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

    def unmarked(self, text: str) -> str:
        """The clean text without markers."""
        return self.masked(strip_markers(self.harmless(text)))

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
