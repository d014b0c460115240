"""Where sentences end, in five languages, on a whole text or on one that is still growing.

Closing quotes and brackets and citation markers after the full stop belong to the sentence. A line break ends one too,
except where a lower-case word goes on after it. Every decision reads forward only as far as it must, and a stream that
has not got that far waits: so the sentences are the same however the text was cut.
"""

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CANDIDATE = re.compile(r"[.!?…。！？｡؟۔\n]")
_TERMINATORS: Final = ".!?…。！？｡؟۔"
_NO_SPACE_NEEDED: Final = "。！？｡"
_CLOSERS: Final = "\"'”’»›」』】》〉）］)]}*_＂"
_BEFORE_WORD: Final = "([{（«“\"'’،,"
_KOREAN_ENDINGS: Final = "다요까죠니음임함됨"

MARKER: Final = r"[\[［【]\s?[\d٠-٩۰-۹０-９]{1,3}(?:\s?[,،、，;；–—~-]\s?[\d٠-٩۰-۹０-９]{1,3})*\s?[\]］】]"
_MARKER = re.compile(r"[ \t\u00a0\u202f]*" + MARKER)
_MARKER_BEGUN = re.compile(r"[ \t\u00a0\u202f]*(?:[\[［【][\s\d٠-٩۰-۹０-９,،、，;；–—~-]{0,40})?\Z")
_GUILLEMET = re.compile(r"[ \t\u00a0\u202f]{1,2}»")
_WORD = re.compile(r"[^\W\d_]+")
_TABLE_OR_HEADING = re.compile(r"\s*(?:#{1,6}\s|\|)")
_ENUMERATOR = re.compile(
    r"[\s#>*+•–—\-(（]*(?:\d{1,3}|[٠-٩]{1,3}|[０-９]{1,3}|[a-zA-Z]|[ivxIVX]{1,5}|[가나다라마바사아자차카타파하])\Z"
)
_LETTERED = re.compile(r"[a-z][.)]\s")

# Never the end of a sentence: a name, a number or an example follows.
_ABBREVIATIONS: Final = _words(
    """
    mr mrs ms dr prof rev hon gen col lt sgt capt cmdr adm gov sen rep pres st ste mt ft messrs mme mlle mmes
    mlles mm me mgr vs eg ie cf viz al fig figs eq eqs sec ch chap vol vols ed eds ca approx dept univ assn bros
    jan feb mar apr jun jul aug sept sep oct nov dec janv févr avr juil déc art arts env ex éd tél boul av bd réf
    nb fém masc hab د أ م.د
    """
)
# The same, but only before a number.
_BEFORE_NUMBER: Final = _words("no nos nr p pp par paras ¶ § n° art alin al ص ج ت س")
# May end a sentence; the word that follows tells.
_MAYBE_LAST: Final = _words(
    """
    inc ltd co corp llc plc jr sr esq etc am pm bc ad ph phd cie sa sarl op cit
    """
)
_KOREAN_DATE = re.compile(r"\d{4}\.\s?\d{1,2}\.\s?\d{1,2}\Z")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")
_STARTERS: Final = _words(
    """
    the a an in on at it its he she they we you i this that these those there here his her their our your my as if
    when while after before since however but and so for from with by to both all some many most such one no not
    what who why how where le la les un une des il elle ils elles on nous vous je ce cet cette ces en dans au aux
    pour par si mais et donc or cependant son sa ses leur leurs du de à depuis après avant selon
    """
)


def split(text: str) -> list[tuple[int, int]]:
    """The (start, end) of each sentence in order, whitespace trimmed; a line without letter or digit is none."""
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end, _ = _boundary(text, start, start, final=True)
        assert end is not None
        sentence = text[start:end]
        left = start + len(sentence) - len(sentence.lstrip())
        right = start + len(sentence.rstrip())
        if any(map(str.isalnum, sentence)):
            spans.append((left, right))
        start = end
    return spans


class SentenceStream:
    """Hands out each sentence of a growing text, with the whitespace after it, once no later delta could change it."""

    def __init__(self) -> None:
        self._pending = ""
        self._resume = 0

    def feed(self, delta: str) -> list[str]:
        """The sentences that became certain with `delta`."""
        self._pending += delta
        return self._take(final=False)

    def finish(self) -> list[str]:
        """All that is left; the stream can be fed a new text afterwards."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> list[str]:
        sentences: list[str] = []
        start = 0
        while start < len(self._pending):
            end, self._resume = _boundary(self._pending, start, start + self._resume, final=final)
            if end is None:
                self._resume -= start
                break
            sentences.append(self._pending[start:end])
            start, self._resume = end, 0
        self._pending = self._pending[start:]
        return sentences


def _boundary(text: str, start: int, resume: int, *, final: bool) -> tuple[int | None, int]:
    """Where the sentence that begins at `start` ends, with the whitespace after it, and where a later look may resume.

    The end is None when the text may still grow and what follows could change it.
    """
    at = resume
    while found := _CANDIDATE.search(text, at):
        stop = found.start()
        after, marked = (stop, False) if text[stop] == "\n" else _after_closers(text, stop + 1)
        if not final and _MARKER_BEGUN.match(text, after):
            return None, stop
        following = after
        while following < len(text) and text[following].isspace():
            following += 1
        if following == len(text):
            return (following if final else None), stop
        ends = _ends(text, start, stop, text[after:following], following, marked=marked, final=final)
        if ends is None:
            return None, stop
        if ends:
            return following, following
        at = following if text[stop] == "\n" else after
    return (len(text) if final else None), len(text)


def _after_closers(text: str, at: int) -> tuple[int, bool]:
    """Past further terminators, closing quotes and brackets, and citation markers; whether a marker was among them."""
    marked = False
    while at < len(text):
        if found := _MARKER.match(text, at):
            at, marked = found.end(), True
        elif text[at] in _TERMINATORS or text[at] in _CLOSERS:
            at += 1
        elif found := _GUILLEMET.match(text, at):
            at = found.end()
        else:
            break
    return at, marked


def _ends(  # noqa: PLR0911 - one rule a line reads best
    text: str, start: int, stop: int, gap: str, following: int, *, marked: bool, final: bool
) -> bool | None:
    """Whether the sentence ends at the candidate `stop`; None when that takes more text than there is."""
    mark, before, after = text[stop], text[stop - 1 : stop] if stop > start else "", text[following]
    goes_on = after.islower() and _latin(after)
    if "\n" in gap:
        return _line_ends(text, start, stop, gap, following, goes_on=goes_on, final=final)
    if mark in _NO_SPACE_NEEDED:
        return True
    if not gap:
        if marked:
            return not goes_on
        if mark in "!?":
            return _hangul(after) or _han(after)
        korean = before != "" and before in _KOREAN_ENDINGS and _hangul(after)
        return korean or (_arabic(after) and stop - start > 2 and all(map(_arabic, text[stop - 3 : stop])))
    if marked:
        return True
    if goes_on:
        return False
    return _full_stop(text, start, stop, following, final) if mark == "." else True


def _line_ends(
    text: str, start: int, stop: int, gap: str, following: int, *, goes_on: bool, final: bool
) -> bool | None:
    if gap.count("\n") > 1 or not goes_on or _TABLE_OR_HEADING.match(text, start):
        return True
    if text[start:stop].rstrip().endswith(":"):
        return True
    if not final and len(text) - following < 3:
        return None
    return _LETTERED.match(text, following) is not None


def _full_stop(  # noqa: PLR0911 - the same
    text: str, start: int, stop: int, following: int, final: bool
) -> bool | None:
    """Whether a full stop before a space ends the sentence, and does not shorten a word or number a list or a date."""
    begin = stop
    while begin > start and not text[begin - 1].isspace() and text[begin - 1] not in _BEFORE_WORD:
        begin -= 1
    token, after = text[begin:stop], text[following]
    lowered = token.lower()
    if _ENUMERATOR.match(text, max(start, text.rfind("\n", start, stop) + 1), stop):
        return False
    if token.isdigit() and _hangul(after) and _KOREAN_DATE.search(text, max(start, stop - 14), stop):
        return False
    if token.isdigit() or lowered in _BEFORE_NUMBER:
        return not after.isdigit()
    if lowered in _ABBREVIATIONS or (token == "M" and after.isupper()):
        return False
    if len(token) == 1 and token.isalpha():
        return not _initial(text, begin, token)
    if lowered in _MAYBE_LAST or _DOTTED.match(token):
        word = _WORD.match(text, following)
        if word and word.end() == len(text) and not final:
            return None
        if word and _latin(after):
            return word[0].lower() in _STARTERS
        return not after.isdigit()
    return True


def _initial(text: str, begin: int, token: str) -> bool:
    if _arabic(token):
        return not (begin >= 2 and text[begin - 2].isdigit())
    return _latin(token) and token.isupper() and token != "I"


def _latin(char: str) -> bool:
    return "A" <= char <= "Z" or "a" <= char <= "z" or "\u00c0" <= char <= "\u024f"


def _hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3"


def _han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"


def _arabic(char: str) -> bool:
    return "\u0620" <= char <= "\u064a"
