"""All spellings of a number in five languages give one value; a number in a name is no amount."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.facts.numbers.units import glued
from actors.facts.numbers.values import NumberRange, values
from actors.facts.slots import matches
from actors.gate.check import check_sentence
from index.languages import FOLDER, LANGUAGES
from index.languages.characters import normal
from prompts.contracts import Evidence


def read(text: str) -> list[tuple[set[float], str]]:
    return [(set(value.readings), value.unit) for value in values(normal(text))[0]]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        # digits
        ("1,234.5", 1234.5, ""),
        ("1 234,5", 1234.5, ""),
        ("1\u202f234,50 €", 1234.5, "eur"),
        ("1.234,5", 1234.5, ""),
        ("１，２３４．５", 1234.5, ""),
        ("١٬٢٣٤٫٥", 1234.5, ""),
        ("22،338،618", 22338618, ""),
        ("1,234,567 people", 1234567, ""),
        ("3.75%", 3.75, "percent"),
        ("3,75 %", 3.75, "percent"),
        ("12 percent", 12, "percent"),
        ("12 pour cent", 12, "percent"),
        ("12퍼센트", 12, "percent"),
        ("百分之十二", 12, "percent"),
        ("12 في المئة", 12, "percent"),
        ("$5 million", 5e6, "usd"),
        ("500만 달러", 5e6, "usd"),
        ("500万美元", 5e6, "usd"),
        ("5 millions de dollars", 5e6, ""),
        ("خمسة ملايين دولار", 5e6, "usd"),
        # scales and words
        ("3만 5천", 35000, ""),
        ("3만5천원", 35000, "krw"),
        ("삼만오천 원", 35000, "krw"),
        ("3.5万", 35000, ""),
        ("三万五千元", 35000, "cny"),
        ("35 thousand", 35000, ""),
        ("thirty-five thousand", 35000, ""),
        ("trente-cinq mille", 35000, ""),
        ("خمسة وثلاثون ألف", 35000, ""),
        ("1억 2000만", 1.2e8, ""),
        ("1亿2000万", 1.2e8, ""),
        ("一百二十", 120, ""),
        ("one hundred and twenty", 120, ""),
        ("cent vingt", 120, ""),
        ("مئة وعشرون", 120, ""),
        ("quatre-vingt-dix-sept", 97, ""),
        ("quatre-vingts", 80, ""),
        ("vingt-six ans", 26, "year"),
        ("six cent mille euros", 600000, "eur"),
        ("soixante et onze", 71, ""),
        ("두 명", 2, ""),
        ("스물다섯 살", 25, ""),
        ("세 번째", 3, ""),
        ("第三次", 3, ""),
        ("二〇一五年", 2015, "year"),
        ("third", 3, ""),
        ("21st", 21, ""),
        ("troisième", 3, ""),
        ("الثالث", 3, ""),
        ("يومين", 2, "day"),
        # units and dates
        ("5 km²", 5, "km2"),
        ("30 °C", 30, "celsius"),
        ("30℃", 30, "celsius"),
        ("6 mois", 6, "months"),
        ("6개월", 6, "months"),
        ("6个月", 6, "months"),
        ("6 أشهر", 6, "months"),
        ("3월", 3, "month"),
        ("1990s", 1990, "decade"),
        ("1990년대", 1990, "decade"),
    ],
)
def test_value(text: str, value: float, unit: str) -> None:
    assert (value, unit) in [(one, found) for readings, found in read(text) for one in readings]


@pytest.mark.parametrize(
    "text",
    [
        "15 July 2006", "July 15th, 2006", "2006-07-15", "2006년 7월 15일", "2006年7月15日", "15 juillet 2006", "15 يوليو 2006",
    ],
)  # fmt: skip
def test_dates_have_the_same_parts(text: str) -> None:
    assert {value for readings, _ in read(text) for value in readings} == {2006, 7, 15}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("4-6 weeks", 4, 6),
        ("entre 4 et 6 mois", 4, 6),
        ("between 4 and 6", 4, 6),
        ("4에서 6", 4, 6),
        ("4~6개월", 4, 6),
        ("4至6周", 4, 6),
        ("من 4 إلى 6", 4, 6),
        ("5 to 10 million", 5e6, 1e7),
    ],
)
def test_range(text: str, low: float, high: float) -> None:
    found = values(normal(text))[1]
    assert [(interval.low, interval.high) for interval in found] == [(low, high)]


@pytest.mark.parametrize("text", ["4 and 6", "2003년과 2005년", "12", "6-4", "4 et 6"])
def test_no_range(text: str) -> None:
    assert values(normal(text))[1] == ()


@pytest.mark.parametrize(
    "text", ["一些", "세계", "네덜란드", "일이 일어났다", "统一", "may come", "km²", "de la tente"]
)
def test_no_number(text: str) -> None:
    assert read(text) == []


@given(st.integers(0, 10**9))
def test_digits_of_every_script_are_one_number(number: int) -> None:
    arabic = str(number).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    wide = str(number).translate(str.maketrans("0123456789", "０１２３４５６７８９"))
    spellings = {str(number), f"{number:,}", f"{number:,}".replace(",", "\u202f"), arabic, wide}
    assert all(read(spelled) == [({float(number)}, "")] or len(read(spelled)[0][0]) == 2 for spelled in spellings)
    assert all(float(number) in read(spelled)[0][0] for spelled in spellings)


@given(st.text(alphabet="0123456789 ,.-~%만억千万年월 to et الف", max_size=24))
def test_values_are_ordered_slices_and_ranges_go_up(text: str) -> None:
    form = normal(text)
    found, intervals = values(form)
    for left, right in pairwise(found):
        assert left.end <= right.start
    assert all(0 <= value.start < value.end <= len(form) for value in found)
    assert all(interval.low < interval.high for interval in intervals)
    assert all(isinstance(interval, NumberRange) for interval in intervals)


@pytest.mark.parametrize("language", LANGUAGES)
def test_table_words_are_in_normal_form(language: str) -> None:
    """Else they would never be found: the gate reads every text in that form."""
    table = (FOLDER / language / "numbers.toml").read_text(encoding="utf-8")
    words = re.findall(r"^(?!place|gap|#)\S+ = [\"'](.*)[\"']$", table, re.MULTILINE)
    assert words
    assert [word for line in words for word in line.split() if normal(word) != word] == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("COVID-19, GPT-4 and IPv6", ["covid19", "gpt4", "ipv6"]),
        ("H1N1 and SARS-CoV-2", ["h1n1", "cov2"]),
        ("新冠COVID-19疫苗，于1830年", ["covid19"]),
        ("코로나19 백신은 최대35명, 오후3시, 약20명, 제5조", ["코로나19"]),
        ("كوفيد-19 في 5 أيام", ["كوفيد19"]),
        ("mid-1990s, May-5, 5km, $5, US$5, 2nd, v3.2.1", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert [one.name for one in glued(normal(text))] == names


@pytest.mark.parametrize(
    ("text", "sentence", "wrong"),
    [
        ("The new coronavirus spreads by air.", "COVID-19 spreads by air [1].", None),
        ("COVID-19 spreads by air.", "COVID-19 spreads by air, mostly [1].", None),
        ("COVID-19 spreads by air.", "COVID-18 spreads by air [1].", "COVID-19"),
        ("코로나바이러스 백신은 중증을 줄인다.", "코로나19 백신은 중증을 줄인다 [1].", None),
        ("코로나19 백신은 중증을 줄인다.", "코로나18 백신은 중증을 줄인다 [1].", "코로나19"),
        ("新冠肺炎疫苗可以减少重症。", "COVID-19疫苗可以减少重症[1]。", None),
        ("COVID-19疫苗可以减少重症。", "COVID-18疫苗可以减少重症[1]。", "covid19"),
        ("Les vaccins contre le covid sont sûrs.", "Les vaccins contre la COVID-19 sont sûrs [1].", None),
        ("Les vaccins contre la COVID-19 sont sûrs.", "Les vaccins contre la COVID-18 sont sûrs [1].", "covid19"),
        ("Las vacunas contra el covid son seguras.", "Las vacunas contra la COVID-19 son seguras [1].", None),
        ("Las vacunas contra la COVID-19 son seguras.", "Las vacunas contra la COVID-18 son seguras [1].", "covid19"),
        ("لقاحات كورونا آمنة تماما.", "لقاحات كوفيد-19 آمنة تماما [1].", None),
        ("لقاحات كوفيد-19 آمنة تماما.", "لقاحات كوفيد-18 آمنة تماما [1].", "كوفيد19"),
        ("GPT-4 is a model.", "GPT4 is a model [1].", None),
        ("The router speaks IPv4 and IPv6.", "The router speaks IPv6 [1].", None),
        ("Python 3 runs it.", "Python3 runs it [1].", None),
        ("Python 3 runs it.", "Python2 runs it [1].", "python3"),
        ("H1N1 is a virus.", "H5N1 is a virus [1].", "h1n1"),
        ("The road is 5km long.", "The road is 6km long [1].", "5"),
    ],
)
def test_a_name_with_another_number(text: str, sentence: str, wrong: str | None) -> None:
    flags = check_sentence(sentence, [Evidence(n=1, source_id="a", title="", text=text)])
    found = [one.why for one in flags if one.kind == "fabricated_number"]
    assert len(found) == (wrong is not None)
    assert wrong is None or normal(wrong).replace("-", "") in found[0]


_FEES = (
    "If the school cancels less than 21 days before the workshop it pays half the fee; if it cancels less than 7 days before,"
    " the whole fee.",
    "The fee is 550 euro plus travel up to 180 euro on receipts.",
)


@pytest.mark.parametrize(
    ("sentence", "flagged"),
    [
        ("At ten days before, the school pays half the fee [1].", "unverified"),
        ("Half of 550 euro is 275 euro [1][2].", "unverified"),
        ("With travel it is up to 730 euro on receipts, as the agreement has it [2].", "unverified"),
        ("If the school cancels less than 7 days before, it pays the whole fee [1].", None),
        ("The fee is 275 euro plus travel up to 180 euro [2].", "fabricated_number"),
        ("If the school cancels less than ten days before the workshop it pays half the fee [1].", "fabricated_number"),
        ("If the school cancels less than 7 days before the workshop it pays half the fee [1].", "fabricated_number"),
        ("The fee is 1,200 euro [2].", "fabricated_number"),
    ],
)
def test_numbers_of_the_question_or_computed_are_doubts(sentence: str, flagged: str | None) -> None:
    evidence = [Evidence(n=n, source_id="a", title="a", text=text) for n, text in enumerate(_FEES, 1)]
    found = check_sentence(sentence, evidence, question="If we cancel ten days before, how much do we pay?")
    assert [flag.kind for flag in found] == ([flagged] if flagged else [])


_TIMES = {
    "en": ("Refunds are paid within 14 days.", "within 14 days", "within two weeks", "within a month"),
    "fr": ("Les remboursements sont effectués sous 14 jours.", "sous 14 jours", "sous deux semaines", "sous un mois"),
    "es": ("Los reembolsos se pagan en 14 días.", "en 14 días", "en dos semanas", "en un mes"),
    "ko": ("환불은 14일 이내에 지급됩니다.", "14일", "2주", "한 달"),
    "zh": ("退款在14天内支付。", "14天", "两周", "一年"),
    "ar": ("تُدفع المبالغ المستردة خلال 14 يوما.", "14 يوما", "أسبوعين", "شهر"),
}
_CENTS = {
    "en": ("Each extra kilometre costs 0.08 euros.", "0.08 euros", "8 cents", "80 cents"),
    "fr": ("Chaque kilomètre de plus coûte 0,08 EUR.", "0,08 EUR", "8 centimes", "80 centimes"),
    "es": ("Cada kilómetro adicional cuesta 0,08 euros.", "0,08 euros", "8 céntimos", "80 céntimos"),
    "ko": ("추가 킬로미터마다 0.08유로를 냅니다.", "0.08유로", "8센트", "80센트"),
    "zh": ("每增加一公里收费0.08欧元。", "0.08欧元", "8分", "80欧分"),
    "ar": ("يكلف كل كيلومتر إضافي 0.08 يورو.", "0.08 يورو", "8 سنتات", "80 سنتا"),
}


@pytest.mark.parametrize("row", [*_TIMES.values(), *_CENTS.values()])
def test_an_amount_in_another_unit(row: tuple[str, str, str, str]) -> None:
    text, old, equal, other = row
    evidence = [Evidence(n=1, source_id="a", title="a", text=text)]
    for said, flags in ((equal, []), (other, ["fabricated_number"])):
        sentence = text.replace(old, said)
        assert sentence != text
        assert [flag.kind for flag in check_sentence(f"{sentence[:-1]} [1].", evidence)] == flags, said


_CLOCK = {
    "en": (
        "Late checkout until {} costs 25 euros.",
        ("14:00", "14h", "2 p.m.", "2:00 pm"),
        ("15:00", "14:30", "3 p.m."),
    ),
    "fr": (
        "Le départ jusqu'à {} coûte 25 euros.",
        ("14 h", "14 h 00", "14:00", "14h00"),
        ("15:00", "14 h 30", "14h05"),
    ),
    "es": (
        "La salida hasta las {} cuesta 25 euros.",
        ("14 h", "14:00", "2 de la tarde"),
        ("15:00", "14:30", "3 de la tarde"),
    ),
    "ko": (
        "늦은 퇴실은 {}까지 가능합니다.",
        ("14시", "14:00", "오후 2시", "14시 00분"),
        ("15:00", "14시 30분", "오후 2시 반"),
    ),
    "zh": ("延迟退房最晚到{}。", ("14点", "14:00", "下午2点"), ("15:00", "14点30分", "下午2点半")),
    "ar": (
        "المغادرة متاحة حتى الساعة {} يوميا.",
        ("14", "14:00", "2 بعد الظهر"),
        ("15:00", "14:30", "2 والنصف بعد الظهر"),
    ),
}


@pytest.mark.parametrize("language", _CLOCK)
def test_an_hour_is_one_time_however_written(language: str) -> None:
    text, equal, others = _CLOCK[language]
    for there in equal[:-1]:
        evidence = [Evidence(n=1, source_id="a", title="a", text=text.format(there))]
        for said in equal:
            assert not check_sentence(f"{text.format(said)[:-1]} [1].", evidence), (there, said)
        for said in others:
            found = check_sentence(f"{text.format(said)[:-1]} [1].", evidence)
            assert ("fabricated_number", "strong") in [(flag.kind, flag.strength) for flag in found], (there, said)


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("Dilute it 1 to 10 [1].", True),
        ("Mix it at 9:30 [1].", True),
        ("Dilute it 1:20 [1].", False),
        ("It feeds 30 people [1].", False),
        ("Stir it for 30 minutes [1].", False),
    ],
)
def test_a_ratio_is_no_time(sentence: str, kept: bool) -> None:
    evidence = [
        Evidence(
            n=1,
            source_id="a",
            title="a",
            text="Dilute it 1:10. Mix it at 9:30. It feeds 25 people. Stir it for 90 minutes.",
        )
    ]
    assert (not check_sentence(sentence, evidence)) is kept


@pytest.mark.parametrize(
    ("amount", "same", "agrees"),
    [
        ("48 hours", "two days", True),
        ("two years", "24 months", True),
        ("1.5 kg", "1500 g", True),
        ("2 h 30", "150 minutes", True),
        ("5 euros", "5 dollars", False),
        ("48 hours", "three days", False),
        ("one year", "365 days", False),
    ],
)
def test_amounts_are_compared_across_units(amount: str, same: str, agrees: bool) -> None:
    [mine], [theirs] = (values(text)[0] for text in (amount, same))
    assert matches(mine, theirs) is agrees
