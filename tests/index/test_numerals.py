"""Numbers in words of every language, read back from what a speaker would write."""

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.languages import FOLDER, LANGUAGES, LanguageProblem, of, read
from index.languages.numerals import characters_worth, reader, written
from index.languages.tables.numbers import Additive, Unit, phrases_in

EN_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
EN_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
FR_SMALL = [
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize",
    "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
]  # fmt: skip
FR_TENS = ["vingt", "trente", "quarante", "cinquante", "soixante", "soixante", "quatre-vingt", "quatre-vingt"]


def english(number: int) -> str:
    if number >= 1_000:
        rest = f" {english(number % 1_000)}" if number % 1_000 else ""
        return f"{english(number // 1_000)} thousand{rest}"
    if number >= 100:
        rest = f" and {english(number % 100)}" if number % 100 else ""
        return f"{EN_SMALL[number // 100]} hundred{rest}"
    if number < 20:
        return EN_SMALL[number]
    return EN_TENS[number // 10 - 2] + (f"-{EN_SMALL[number % 10]}" if number % 10 else "")


def french(number: int) -> str:
    if number >= 1_000:
        head = f"{french(number // 1_000)} mille" if number >= 2_000 else "mille"
        return head + (f" {french(number % 1_000)}" if number % 1_000 else "")
    if number >= 100:
        head = f"{FR_SMALL[number // 100]} cent" if number >= 200 else "cent"
        return head + (f" {french(number % 100)}" if number % 100 else "")
    if number < 20:
        return FR_SMALL[number]
    ten, rest = FR_TENS[number // 10 - 2], number % 20 if number // 10 in (7, 9) else number % 10
    joint = " et " if rest in (1, 11) and number < 80 else "-"
    return ten + (f"{joint}{FR_SMALL[rest]}" if rest else "")


def characters(number: int, digits: str, scales: str, large: str) -> str:
    if number >= 10_000:
        rest = characters(number % 10_000, digits, scales, large) if number % 10_000 else ""
        return characters(number // 10_000, digits, scales, large) + large + rest
    places = [(number // 10**place % 10, place) for place in (3, 2, 1, 0)]
    return "".join(digits[digit] + scales[place] for digit, place in places if digit)


def whole(text: str) -> set[float]:
    """The values of the numerals that cover the whole text, for any suffix."""
    return {numeral.value for numeral in written(text) if numeral.end - numeral.start == len(text)}


@given(st.integers(0, 999_999))
def test_english_comes_back(number: int) -> None:
    assert whole(english(number)) == {float(number)}


@given(st.integers(0, 999_999))
def test_french_comes_back(number: int) -> None:
    assert float(number) in whole(french(number))


@given(st.integers(1, 99_999_999))
def test_characters_come_back(number: int) -> None:
    assert characters_worth(characters(number, "零一二三四五六七八九", ["", "十", "百", "千"], "万")) == number
    assert characters_worth(characters(number, "영일이삼사오육칠팔구", ["", "십", "백", "천"], "만")) == number


@given(st.integers(0, 10**12))
def test_digit_words_are_read_by_place(number: int) -> None:
    assert characters_worth(str(number)) == number
    assert characters_worth("".join("零一二三四五六七八九"[int(digit)] for digit in str(number))) == number


@pytest.mark.parametrize(
    ("numeral", "value"), [("3千", 3_000), ("一千零十", 1_010), ("十万", 100_000), ("12百5", 1_205)]
)
def test_digits_may_mix_with_scales(numeral: str, value: int) -> None:
    assert characters_worth(numeral) == value


def test_ambiguous_word_is_a_number_only_at_home() -> None:
    system = Additive(
        place=r"\b{number}\b", gap="[ -]", counters="", unsure="", only_here="trois", cardinals={"3": "trois", "9": "nove"},
        ordinals={}, scales={},
    )  # fmt: skip
    at_home = (reader("fr", system),)
    assert [numeral.value for numeral in written("il y en a trois dans la salle", at_home)] == [3]
    assert not list(written("the word trois is not of this language", at_home))
    assert [numeral.value for numeral in written("the word nove is", at_home)] == [9]


@pytest.mark.parametrize("language", LANGUAGES)
def test_spelling_has_one_unit_in_all_languages(language: str) -> None:
    def spelled(code: str) -> dict[str, Unit]:
        return {word: unit for unit, words in of(code).numbers.units.items() for word in phrases_in(words)}

    own = spelled(language)
    for other in LANGUAGES:
        assert {word: unit for word, unit in spelled(other).items() if own.get(word, unit) != unit} == {}


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("\n[ranges]", "\n[rangs]", "rangs: unknown key; did you mean 'ranges'?"),
        ("\nunsure =", "\nunsur =", "numerals[0].unsur: unknown key; did you mean 'unsure'?"),
        ("\npercent =", "\npercnt =", "units.percnt: unknown value 'percnt'; did you mean 'percent'?"),
        ('"additive"', '"addition"', "numerals[0].composition: invalid value 'addition'"),
        ('\n1 = "one"', '\none = "one"', r"numerals[0].cardinals: expected a string matching regex '^\\d[\\d_]*$'"),
        ('"may",', "", "dates.months: expected an array of length >= 12"),
    ],
)
def test_wrong_table_is_refused_by_name(tmp_path: Path, right: str, wrong: str, problem: str) -> None:
    path = Path(shutil.copytree(FOLDER / "en", tmp_path / "xx")) / "numbers.toml"
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(LanguageProblem, match=re.escape(f"xx/numbers.toml: {problem}")):
        read(path.parent)
