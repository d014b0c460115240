"""Which stretches of a text are negated, in five languages."""

import re
from functools import lru_cache
from typing import Final

import msgspec

from actors.gate.terms.lexicon import lexicon


def _words(text: str) -> list[str]:
    return text.split()


_CLAUSE_END = re.compile(
    r"[.,;:!?()…。，；：！？、؟،؛\n]|\b(?:but|however|although|because|which|who|while|mais|qui|car|parce)\b| (?:لكن|ولكن|بل) "
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_WORDS_TURNED: Final = 6
_FRENCH = re.compile(
    r"\b(?:ne |n')(?P<verb>[^.,;:!?()\n]{0,60}?)\b(?P<neg>pas|jamais|plus|aucune?|rien|personne|guère|point|ni|nul)\b"
)
_FRENCH_ALONE = re.compile(r"\b(?:sans|aucune?|non|jamais|ni|impossible)\b")
_KOREAN_AFTER = re.compile(r"(?<![가-힣])(?:안|못) (?=[가-힣])")
_KOREAN_BEFORE = re.compile(
    r"(?:지(?:는|도|를|가|만)? ?(?:않|못하|못한|못할|못해|못했|못합|말아|마세|마십)|없|아니(?!면|라면)|아닌|아닙|아님|아녔|아닐"
    r"|불가|금지|말아야|안 된|안 됩|안되|안 되|못 |못한|못했|못해|못하|안한)"
)
_CHINESE = re.compile(r"不|没|沒|未|无(?!论)|無|非(?!常|洲)|勿|别(?!的|人|墅)|莫(?!斯)|禁止|缺乏|缺少|拒绝|失败")
# Words with a negator in them that deny nothing.
_CHINESE_NOT: Final = tuple(
    _words(
        """
        不仅 不但 不只 不光 不论 不管 不同 不断 不少 不过 不久 差不多 了不起 不得不 不禁 不免 不由 不一 不等 无论 无非 未来
        未必不 除非 对不起
        """
    )
)
_ARABIC = re.compile(
    r"(?<![\u0620-\u064a])(?:و|ف)?(?:لا|لم|لن|ليس|ليست|ليسوا|لست|غير|دون|بدون|بلا|عدم|ينفي|نفي|رفض|رفضت|يستحيل|مستحيل)"
    r"(?![\u0620-\u064a])"
)
_ARABIC_NOT = re.compile(r"لا (?:سيما|بد|شك|يزال|تزال|باس)|ليس فقط|لا يقتصر")


class Negated(msgspec.Struct, frozen=True):
    """A negator where it stands, and the stretch before or after it that it turns."""

    cue: str
    at: int
    start: int
    end: int


@lru_cache(maxsize=2048)
def negations(text: str, language: str) -> tuple[Negated, ...]:
    """The negations of a text in normal form, in order."""
    if language == "ko":
        found = _korean(text)
    elif language == "zh":
        found = [
            _forward(text, match, 8) for match in _CHINESE.finditer(text) if not _part_of(text, match, _CHINESE_NOT)
        ]
    elif language == "ar":
        skipped = [match.span() for match in _ARABIC_NOT.finditer(text)]
        found = [
            _forward(text, match, 40)
            for match in _ARABIC.finditer(text)
            if not any(start <= match.start() < end for start, end in skipped)
        ]
    elif language == "fr":
        found = [
            Negated(match["neg"], match.start(), match.start(), _clause_end(text, match.end(), 40))
            for match in _FRENCH.finditer(text)
        ]
        covered = [(one.start, one.end) for one in found]
        found += [
            _forward(text, match, 40)
            for match in _FRENCH_ALONE.finditer(text)
            if not any(start <= match.start() < end for start, end in covered)
        ]
    else:
        found = _english(text)
    return tuple(sorted(found, key=lambda one: one.at))


def _english(text: str) -> list[Negated]:
    known = lexicon("en")
    found: list[Negated] = []
    for match in _WORD.finditer(text):
        word = match[0]
        if word in known.negators or word.endswith("n't"):
            if any(
                text.startswith(phrase, max(0, match.start() - 4)) or text.startswith(phrase, match.start())
                for phrase in known.not_negating
            ):
                continue
            found.append(_forward(text, match, 45))
    return found


def _korean(text: str) -> list[Negated]:
    known = lexicon("ko")
    found = [_forward(text, match, 8) for match in _KOREAN_AFTER.finditer(text)]
    for match in _KOREAN_BEFORE.finditer(text):
        if _part_of(text, match, known.not_negating):
            continue
        # The negated verb or noun stands before: two words back, within the clause.
        start = match.start()
        for _ in range(3):
            start = max(text.rfind(" ", 0, max(0, start - 1)), 0)
        clause = max(text.rfind(mark, 0, match.start()) for mark in ".,!?\n")
        found.append(Negated(match[0], match.start(), max(start, clause + 1), match.start()))
    return found


def _forward(text: str, match: re.Match[str], reach: int) -> Negated:
    return Negated(match[0].strip(), match.start(), match.end(), _clause_end(text, match.end(), reach))


def _clause_end(text: str, at: int, reach: int) -> int:
    stop = _CLAUSE_END.search(text, at, at + reach)
    return stop.start() if stop else min(len(text), at + reach)


def _part_of(text: str, match: re.Match[str], phrases: tuple[str, ...]) -> bool:
    window = text[max(0, match.start() - 8) : match.end() + 8]
    here = match.start() - max(0, match.start() - 8)
    return any(0 <= (found := window.find(phrase)) <= here < found + len(phrase) for phrase in phrases)
