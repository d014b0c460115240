"""Numbers written as words in five languages: what they are worth and where they stand."""

import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

import actors.gate.numbers.numeral_words as words


class Numeral(msgspec.Struct, frozen=True):
    """A number in words. `sure` is False where the word is as often something else ("one", "second", neuf, 一): it can
    support a number but its absence proves nothing."""

    start: int
    end: int
    value: float
    sure: bool


def _either(*tables: dict[str, float] | dict[str, int], more: str) -> str:
    return "|".join(sorted({*more.split(), *(word for table in tables for word in table)}, key=len, reverse=True))


_EN_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_FR_SCALES: Final = {
    "cent": 100, "cents": 100, "mille": 1_000, "million": 1_000_000, "millions": 1_000_000,
    "milliard": 1_000_000_000, "milliards": 1_000_000_000,
}  # fmt: skip
_EN: Final = {**words.EN_UNITS, **words.EN_TENS, **words.EN_ORDINALS}
_FR: Final = {**words.FR_UNITS, **words.FR_TENS, **words.FR_ORDINALS}
_AR: Final = {**words.AR_WORDS, **words.AR_HUNDREDS}
_AR_SCALES: Final = {
    word: value for word, value in words.SCALES.items() if "\u0620" <= word[0] <= "\u064a" and value >= 1e3
}
_AR_ALONE: Final = {**words.AR_ORDINALS, **words.AR_DUALS}
_AR_PREFIX: Final = ("وال", "بال", "ال", "لل", "و", "ب", "ل", "ف")

_EN_WORD: Final = _either(_EN, _EN_SCALES, more="")
_FR_WORD: Final = _either(_FR, _FR_SCALES, more="")
_ENGLISH = re.compile(rf"\b(?:{_EN_WORD})(?:[ -](?:and )?(?:{_EN_WORD}))*\b")
_FRENCH = re.compile(rf"\b(?:{_FR_WORD})(?:[ -](?:et[ -])?(?:{_FR_WORD}))*\b")
_ARABIC = re.compile(r"[\u0620-\u064a]+")
_CHINESE = re.compile(r"(?:百分之|第)?[零〇一二三四五六七八九十百千万萬亿億两兩]+")
_KOREAN_NATIVE = re.compile(
    rf"(?<![가-힣])(?:({'|'.join(words.KO_NATIVE_TENS)})({'|'.join(words.KO_NATIVE_UNITS)})?|"
    rf"({'|'.join(words.KO_NATIVE_UNITS)})) ?(?=(?:{words.KO_COUNTERS}))"
)
_KOREAN_SINO = re.compile(
    r"(?<![가-힣])(?:제|약|총)?"
    r"((?=[일이삼사오육칠팔구]*[십백천만억조])[영일이삼사오육칠팔구십백천만억조]{2,}"
    r"|[이삼사오육칠팔구십백천만](?= ?(?:위|세기|층|호선|인분))) ?"
    rf"(?=(?:{words.KO_SINO_COUNTERS}))"
)
_UNSURE: Final = frozenset(
    {"one", "first", "second", "seconde", "un", "une", "neuf", "premier", "première", "zero", "cent"}
)


def written(text: str) -> Iterator[Numeral]:
    """Every number written as words in `text`, whatever its language; not in order."""
    if text.isascii() or re.search(r"[a-z]", text):
        yield from _latin(text, _ENGLISH, _english)
        yield from _latin(text, _FRENCH, _french)
    if text.isascii():
        return
    yield from _arabic(text)
    yield from _chinese(text)
    yield from _korean(text)


def cjk(digits: str) -> float:
    """The worth of a run of Chinese or Korean numerals: `一百二十`, `삼천오백`, `二〇一五`."""
    if not any(char in words.CJK_SCALES for char in digits):
        return float("".join(str(words.CJK_DIGITS[char]) for char in digits))
    total = section = 0.0
    pending: float | None = None
    for char in digits:
        if char in words.CJK_DIGITS:
            pending = float(words.CJK_DIGITS[char])
            continue
        scale = words.CJK_SCALES[char]
        if scale < 1e4:
            section += (1.0 if pending is None else pending) * scale
        else:
            total += (section + (pending or 0.0) or 1.0) * scale
            section = 0.0
        pending = None
    return total + section + (pending or 0.0)


def _latin(text: str, pattern: re.Pattern[str], worth: Callable[[list[str]], float | None]) -> Iterator[Numeral]:
    for found in pattern.finditer(text):
        parts = [part for part in re.split(r"[ -]", found[0]) if part not in ("and", "et")]
        value = worth(parts)
        if value is not None:
            sure = not (len(parts) == 1 and parts[0] in _UNSURE)
            yield Numeral(found.start(), found.end(), value, sure)


def _english(parts: list[str]) -> float | None:
    return _compose(parts, _EN, _EN_SCALES)


def _french(parts: list[str]) -> float | None:
    # quatre-vingt: the only place where the smaller number multiplies.
    joined: list[str] = []
    for part in parts:
        if part in ("vingt", "vingts") and joined and joined[-1] == "quatre":
            joined[-1] = "80"
        else:
            joined.append(part)
    return _compose(joined, {**_FR, "80": 80}, _FR_SCALES)


def _compose(parts: list[str], small: dict[str, int], scales: dict[str, int]) -> float | None:
    """The value of number words in reading order; None for two numbers side by side ("two three")."""
    total = section = 0
    last = 1_000
    for part in parts:
        if part in scales:
            scale = scales[part]
            if scale == 100:
                section = (section or 1) * 100
            else:
                total, section = total + (section or 1) * scale, 0
            last = 1_000
            continue
        value = small[part]
        if value >= last or (last < 10):
            return None
        section += value
        last = value if value >= 10 else 1
    return float(total + section)


def _arabic(text: str) -> Iterator[Numeral]:
    run: list[tuple[int, int, float]] = []
    for found in _ARABIC.finditer(text):
        word = found[0]
        value = _arabic_value(word)
        if run and (value is None or text[run[-1][1] : found.start()] != " "):
            yield _arabic_run(run)
            run = []
        if value is not None:
            run.append((found.start(), found.end(), value))
        elif word in _AR_ALONE:
            yield Numeral(found.start(), found.end(), float(_AR_ALONE[word]), word in words.AR_DUALS)
    if run:
        yield _arabic_run(run)


def _arabic_value(word: str) -> float | None:
    """The worth of one word, its article and particles taken off; scales count too."""
    for prefix in ("", *_AR_PREFIX):
        stem = word.removeprefix(prefix) if word.startswith(prefix) else ""
        if stem in _AR:
            return float(_AR[stem])
        if stem in _AR_SCALES:
            return _AR_SCALES[stem]
    return None


def _arabic_run(run: list[tuple[int, int, float]]) -> Numeral:
    total = section = 0.0
    for _, _, value in run:
        if value >= 1e3:
            total += (section or 1.0) * value
            section = 0.0
        elif value == 100 and 0 < section < 10:
            section *= 100
        else:
            section += value
    return Numeral(run[0][0], run[-1][1], total + section, len(run) > 1 or run[0][2] not in (1.0, 6.0, 100.0))


def _chinese(text: str) -> Iterator[Numeral]:
    for found in _CHINESE.finditer(text):
        digits = found[0].removeprefix("百分之").removeprefix("第")
        after = text[found.end() : found.end() + 1]
        counted = digits != found[0] or (after != "" and after in words.ZH_COUNTERS)
        if not counted and len(digits) < 3:
            continue
        if digits[0] in "万亿萬億":
            continue
        yield Numeral(found.end() - len(digits), found.end(), cjk(digits), digits not in ("一", "十", "千", "百"))


def _korean(text: str) -> Iterator[Numeral]:
    for found in _KOREAN_NATIVE.finditer(text):
        tens, unit, alone = found.groups()
        value = words.KO_NATIVE_TENS.get(tens, 0) + words.KO_NATIVE_UNITS.get(unit or alone, 0)
        yield Numeral(found.start(), found.end() - found[0].endswith(" "), float(value), value > 1)
    for found in _KOREAN_SINO.finditer(text):
        yield Numeral(found.start(1), found.end(1), cjk(found[1]), len(found[1]) > 1)
