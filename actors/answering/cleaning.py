"""Make a text harmless: without links that lead to no source, without hidden markup, and masked where the profile asks for it."""

from collections.abc import Collection, Sequence

from actors.facts.copied_code import copied
from actors.outcome.private import flags_shown
from actors.question.profile import profile_of
from actors.text.links import defang
from bus.wire.messages import AnswerRequested, Flag
from index.languages.folding import visible
from index.masking import MaskStream, mask, values_in
from index.source_paths import published


class Cleaning:
    """Cleans the texts of one answer. `urls`: the addresses of its sources, which alone may stay."""

    def __init__(self, request: AnswerRequested) -> None:
        self.urls = frozenset(url for span in request.evidence if (url := published(span.url)))
        self._texts = [span.text for span in request.evidence]
        self._masked = profile_of(request.question.profile).mask_personal_data
        self._known = values_in(self._texts) if self._masked else frozenset[str]()

    def harmless(self, text: str) -> str:
        return harmless(text, self._texts, self.urls)

    def clean(self, text: str) -> str:
        """The text harmless and masked."""
        text = self.harmless(text)
        return mask(text, known=self._known) if self._masked else text

    def flags(self, text: str, flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
        """The flags of a sentence, with the words that they quote masked."""
        return flags_shown(text, flags, self._known) if self._masked else flags

    def masks(self) -> MaskStream:
        return MaskStream(self._known, active=self._masked)


def harmless(text: str, evidence: Sequence[str], urls: Collection[str]) -> str:
    """`text` without links and markup that do not lead to a source; code copied from the evidence stays as it is."""
    parts: list[str] = []
    at = 0
    for fence in copied(text, evidence):
        parts += [defang(text[at : fence.start], urls), visible(text[fence.start : fence.end])]
        at = fence.end
    return "".join([*parts, defang(text[at:], urls)])
