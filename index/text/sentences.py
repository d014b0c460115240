"""Where sentences end, in all languages, in a whole text or in a growing text.

Closing quotes, brackets and citation markers after the full stop belong to the sentence. A line break also ends one, except
where a lower-case word follows. Every decision looks ahead only as far as it must, and waits if a stream has not got that
far, so the sentences are the same however the text was split into deltas.
"""

import re
from collections.abc import Callable
from typing import Final

from index.languages import LANGUAGES, every, of
from index.languages.characters import LETTERS, is_arabic, is_han, is_hangul, is_latin
from index.languages.tables.kinds import Words, words_in
from index.languages.tables.words import Sentences
from index.text.citations import TICKS, closing_of, without_code

#: Between the cells of a table's row, in the text of a document.
CELLS: Final = " | "


def _all(part: Callable[[Sentences], Words]) -> frozenset[str]:
    return frozenset(every(lambda language: part(language.sentences).split()))


_CANDIDATE = re.compile(r"[.!?…。！？｡؟۔\n]")
_TERMINATORS: Final = ".!?…。！？｡؟۔"
_NO_SPACE_NEEDED: Final = "。！？｡"
_CLOSERS: Final = "\"'”’»›」』】》〉）］)]}*_＂"
_BEFORE_WORD: Final = "([{（«“\"'’،,"

MARKER: Final = r"[\[［【]\s?[\d٠-٩۰-۹０-９]{1,3}(?:\s?[,،、，;；–—~-]\s?[\d٠-٩۰-۹０-９]{1,3})*\s?[\]］】]"
_MARKER = re.compile(r"[ \t\u00a0\u202f]*" + MARKER)
_MARKER_BEGUN = re.compile(r"[ \t\u00a0\u202f]*(?:[\[［【][\s\d٠-٩۰-۹０-９,،、，;；–—~-]{0,40})?\Z")
#: The beginning of a line that quotes; and what closes each mark.
_QUOTES = re.compile(r"[ \t]*>[ \t]*([\"“„«「『])")
_CLOSES: Final = {'"': '"', "“": '”"', "„": "“”", "«": "»", "「": "」", "『": "』"}
_GUILLEMET = re.compile(r"[ \t\u00a0\u202f]{1,2}»")
#: The dots that lead from a name to its amount or page.
_LEADERS = re.compile(r"\.{5,}|…{2,}")
_WORD = re.compile(r"[^\W\d_]+")
_TABLE_OR_HEADING = re.compile(r"\s*(?:#{1,6}\s|\|)")
#: The beginning of a row: a bar, a cell with its column's name, or two cells.
_ROW = re.compile(r"\s*(?:\||[^|:.!?。]{1,60}: [^|]* \| |[^|]* \| [^|]* \| )")
#: How far into a line its second cell is looked for.
_LONGEST_CELLS: Final = 2000
_NUMBERING: Final = "".join(sorted(_all(lambda tables: tables.enumerators)))
_ENUMERATOR = re.compile(rf"[\s#>*+•–—\-(（]*(?:\d{{1,3}}|[a-zA-Z{_NUMBERING}]|[ivxIVX]{{1,5}})\Z")
_LETTERED = re.compile(r"[a-z][.)]\s")

_ABBREVIATIONS: Final = _all(lambda tables: tables.abbreviations)
_BEFORE_NUMBER: Final = _all(lambda tables: tables.before_number) | {"¶", "§"}
_BEFORE_CAPITAL: Final = _all(lambda tables: tables.before_capital)
_MAYBE_LAST: Final = _all(lambda tables: tables.maybe_last)
_STARTERS: Final = _all(lambda tables: tables.starters)
_SHORT_WORDS: Final = _all(lambda tables: tables.short_words)
_LETTERS: Final = {language: re.compile(f"[{LETTERS[of(language).identity.script]}]") for language in LANGUAGES}
#: What must follow, and what precede, a full stop that ends a sentence without a space, or a date within one.
_GLUED: Final = [(_LETTERS[name], words_in(of(name).sentences.glued_endings)) for name in LANGUAGES]
_DATES: Final = [
    (_LETTERS[name], re.compile(rf"(?:{of(name).sentences.date})\Z")) for name in LANGUAGES if of(name).sentences.date
]
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")


def shortened(text: str, most: int, mark: str = "…") -> str:
    """The text cut at a sentence end to at most `most` characters (0: no limit); a longer sentence is cut hard, with the mark."""
    if not most or len(text) <= most:
        return text
    ends = [end for _, end in split(text) if end <= most]
    return text[: ends[-1]] if ends else text[: most - len(mark)].rstrip() + mark


def split(text: str) -> list[tuple[int, int]]:
    """The (start, end) of each sentence in order, white space trimmed; a line without a letter or digit does not count."""
    spans: list[tuple[int, int]] = []
    start, fresh, fenced = 0, True, text.find(TICKS)
    while start < len(text):
        if 0 <= fenced < start:
            fenced = text.find(TICKS, start)
        end, _ = _boundary(text, start, start, fenced, final=True, fresh=fresh)
        assert end is not None
        sentence = text[start:end]
        fresh = _breaks_line(sentence)
        left = start + len(sentence) - len(sentence.lstrip())
        right = start + len(sentence.rstrip())
        if any(map(str.isalnum, sentence)):
            spans.append((left, right))
        start = end
    return spans


class SentenceStream:
    """Returns each sentence of a growing text, with the white space after it, as soon as no later delta can change it."""

    def __init__(self) -> None:
        self._pending = ""
        self._resume = 0
        self._fresh = True

    def feed(self, delta: str) -> list[str]:
        """The sentences that became certain with `delta`."""
        self._pending += delta
        return self._take(final=False)

    def finish(self) -> list[str]:
        """The rest; afterwards the stream can be fed a new text."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> list[str]:
        sentences: list[str] = []
        start = 0
        while start < len(self._pending):
            fenced = self._pending.find(TICKS, start)
            end, self._resume = _boundary(
                self._pending, start, start + self._resume, fenced, final=final, fresh=self._fresh, quotes=True
            )
            if end is None:
                self._resume -= start
                break
            sentences.append(self._pending[start:end])
            self._fresh = _breaks_line(sentences[-1])
            start, self._resume = end, 0
        self._pending = self._pending[start:]
        return sentences


def in_sentences(text: str) -> list[str]:
    """The sentences of a whole text, each with the white space after it."""
    stream = SentenceStream()
    return [*stream.feed(text), *stream.finish()]


def _boundary(  # noqa: PLR0911 - one rule a line reads best
    text: str, start: int, resume: int, fenced: int, *, final: bool, fresh: bool, quotes: bool = False
) -> tuple[int | None, int]:
    """The end of the sentence that begins at `start`, with the white space after it, and where to resume looking.

    The end is None when the text may still grow and its continuation could change it. `fenced`: where the next ticks are, or -1.
    `fresh`: the sentence begins a line. `quotes`: a line that quotes, "> “…”", is one sentence up to its closing mark.
    """
    at = resume
    while match := _CANDIDATE.search(text, at):
        stop = match.start()
        closed = _fence_end(text, start, stop, final=final, fresh=fresh) if 0 <= fenced < stop else stop
        if closed is None:
            return (len(text), len(text)) if final else (None, stop)
        if closed > stop:
            at = closed
            continue
        after, marked = (stop, False) if text[stop] == "\n" else _after_closers(text, stop + 1)
        if not final and _MARKER_BEGUN.match(text, after):
            return None, stop
        following = after
        while following < len(text) and text[following].isspace():
            following += 1
        if following == len(text):
            return (following if final else None), stop
        if "\n" in text[stop:following] and not _after_fence(text, start, stop):
            head = text[following : following + len(TICKS)]
            if head == TICKS:
                at = following
                continue
            if not final and TICKS.startswith(head):
                return None, stop
        if quotes and "\n" not in text[stop:following] and _in_quotation(text, start, after):
            at = after
            continue
        ends = _ends(text, start, stop, text[after:following], following, marked=marked, final=final)
        if ends is None:
            return None, stop
        if ends:
            return following, following
        at = following if text[stop] == "\n" else after
    return (len(text) if final else None), len(text)


def _breaks_line(sentence: str) -> bool:
    return "\n" in sentence[len(sentence.rstrip()) :]


def _after_fence(text: str, start: int, stop: int) -> bool:
    return text[stop] == "\n" and text[max(start, stop - 80) : stop].rstrip(" \t").endswith(TICKS)


def _fence_end(text: str, start: int, stop: int, *, final: bool, fresh: bool) -> int | None:
    """The end of the fence around `stop`; `stop` itself when there is none, None when it may still be open."""
    at = text.find(TICKS, start, stop)
    while at >= 0:
        ticks = next((n for n in range(len(TICKS), len(text) - at) if text[at + n] != "`"), len(text) - at)
        line = text.rfind("\n", start, at)
        begin = start if line < 0 else line + 1
        if (line >= 0 or fresh) and not text[begin:at].strip():
            closing = closing_of(text, at + ticks, ticks)
            if closing is None or (closing.end() == len(text) and not final):
                return None
            if closing.end() > stop:
                return closing.end()
            ticks = closing.end() - at
        at = text.find(TICKS, at + ticks, stop)
    return stop


def _after_closers(text: str, at: int) -> tuple[int, bool]:
    """The position after further terminators, closing quotes, brackets and citation markers; and whether there was a marker."""
    marked = False
    while at < len(text):
        if match := _MARKER.match(text, at):
            at, marked = match.end(), True
        elif text[at] in _TERMINATORS or text[at] in _CLOSERS:
            at += 1
        elif match := _GUILLEMET.match(text, at):
            at = match.end()
        else:
            break
    return at, marked


def _ends(  # noqa: PLR0911 - one rule a line reads best
    text: str, start: int, stop: int, gap: str, following: int, *, marked: bool, final: bool
) -> bool | None:
    """Whether the sentence ends at the candidate `stop`; None when deciding needs more text."""
    mark, before, after = text[stop], text[stop - 1 : stop] if stop > start else "", text[following]
    goes_on = after.islower() and is_latin(after)
    if "\n" in gap:
        return _after_fence(text, start, stop) or _line_ends(
            text, start, stop, gap, following, goes_on=goes_on, final=final
        )
    if _in_row(text, start, stop) or _leads(text, start, stop):
        return False
    if mark in _NO_SPACE_NEEDED:
        return True
    if not gap:
        if marked:
            return not goes_on
        if mark in "!?":
            return is_hangul(after) or is_han(after)
        glued = any(before in endings and letters.match(after) for letters, endings in _GLUED)
        return glued or (is_arabic(after) and stop - start > 2 and all(map(is_arabic, text[stop - 3 : stop])))
    if marked:
        return True
    if goes_on:
        return False
    return _full_stop(text, start, stop, following, final) if mark == "." else True


def _in_quotation(text: str, start: int, after: int) -> bool:
    """Whether the line so far quotes and is not closed yet."""
    begin = max(start, text.rfind("\n", start, after) + 1)
    opened = _QUOTES.match(text, begin, after)
    return opened is not None and not any(mark in text[opened.end() : after] for mark in _CLOSES[opened[1]])


def _in_row(text: str, start: int, stop: int) -> bool:
    """Whether `stop` is in a row of a table, after its first cell."""
    begin = max(start, text.rfind("\n", start, stop) + 1)
    line = text[begin : min(stop, begin + _LONGEST_CELLS)]
    return CELLS in line and _ROW.match(without_code(line)) is not None


def _leads(text: str, start: int, stop: int) -> bool:
    """Whether `stop` is one of the dots that lead to an amount: `.....` or ` . . .`."""
    spaced = text.startswith(" . .", max(start, stop - 1)) or text.startswith(". .", max(start, stop - 2), stop + 1)
    return spaced or _LEADERS.match(text, stop) is not None


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
    """Whether a full stop before a space ends the sentence, and is not part of an abbreviation, a list number or a date."""
    begin = stop
    while begin > start and not text[begin - 1].isspace() and text[begin - 1] not in _BEFORE_WORD:
        begin -= 1
    token, after = text[begin:stop], text[following]
    lowered = token.lower()
    if _ENUMERATOR.match(text, max(start, text.rfind("\n", start, stop) + 1), stop):
        return False
    if token == "1" and text[start:begin].rstrip().endswith((":", "：")):  # of a list within a line
        return False
    if token.isdigit() and any(
        letters.match(after) and date.search(text, max(start, stop - 14), stop) for letters, date in _DATES
    ):
        return False
    if token.isdigit() or lowered in _BEFORE_NUMBER:
        return not after.isdigit()
    if lowered in _ABBREVIATIONS or (token in _BEFORE_CAPITAL and after.isupper()):
        return False
    if len(token) == 1 and token.isalpha():
        return not _initial(text, begin, token)
    if lowered in _MAYBE_LAST or _DOTTED.match(token):
        word = _WORD.match(text, following)
        if word and word.end() == len(text) and not final:
            return None
        if word and is_latin(after):
            return word[0].lower() in _STARTERS
        return not after.isdigit()
    return True


def _initial(text: str, begin: int, token: str) -> bool:
    if is_arabic(token):
        return not (begin >= 2 and text[begin - 2].isdigit())
    return is_latin(token) and token.isupper() and token not in _SHORT_WORDS
