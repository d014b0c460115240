"""A claim against rows of tables, and numbers in other forms: what verifies it, and what contradicts it."""

from pathlib import Path

import pytest

from actors.checking.claims import Claim, states
from actors.checking.spans import Found
from actors.checking.verdicts import judged
from runtime.checked.file import passages_of

PRICES = """# Price list 2026

| Article | Weight g | Price EUR |
|---|---|---|
| Rye loaf | 750 | 4.5 |
| Spelt loaf | 500 | 4.95 |
| Walnut cake | 1300 | 22 |
"""
PLOTS = """# Allotments

| Plot | Rent 2025 | Rent 2026 | Holder | Deputy |
|---|---|---|---|---|
| Quarter | 24 | 27 | Greta Holm | Anna Ruf |
| Half | 42 | 47 | Priya Nair | Emre Kaya |
"""
TEAS = """# 库存

| 商品 | 规格 | 进价(元) | 售价(元) |
|---|---|---|---|
| 碧螺春 | 250克 | 95 | 150 |
| 龙井茶 | 250克 | 88 | 138 |
"""
FLAT = """# Tenancy agreement flat 11

The deposit is 1,200 pounds and is held by MyDeposits. The rent is 865 pounds a month.
"""
MARKS = "The pass mark is 40 for undergraduate modules and 50 for graduate modules.\n"
FAIR = "The party made a surplus of 84.20 pounds, which goes to the bench fund.\n"
WATER = "# Rules\n\n## Late work\n\nThe tenant pays the water and the landlord pays the service charge each year.\n"


def verdict(sentence: str, document: str, folder: Path) -> str:
    file = folder / "document.md"
    file.write_text(document, encoding="utf-8")
    claim = Claim(text=sentence, start=0, end=len(sentence), states=states(sentence))
    return judged(claim, Found(passages_of(file))).verdict


@pytest.mark.parametrize(
    ("document", "sentence", "expected"),
    [
        (PRICES, "The rye loaf costs 4.50 euros in 2026.", "verified"),
        (PRICES, "The rye loaf costs EUR 4,50.", "verified"),
        (PRICES, "The rye loaf weighs 750 g.", "verified"),
        (PRICES, "The walnut cake weighs 1,300 g.", "verified"),
        (PRICES, "The rye loaf costs 750 euros.", "contradicted"),
        (PRICES, "The spelt loaf costs 5.20 euros in 2026.", "contradicted"),
        (PRICES, "The spelt loaf costs 4.95 euros in 2019.", "unverified"),
        (PLOTS, "In 2026 the rent of a half plot is 47.", "verified"),
        # The row has the number in another cell.
        (PLOTS, "In 2026 the rent of a half plot is 42.", "unverified"),
        (PLOTS, "Priya Nair is the holder of the half plot.", "verified"),
        (PLOTS, "Emre Kaya is the holder of the half plot.", "unverified"),
        (PLOTS, "Greta Holm is the holder of the half plot.", "unverified"),
        (TEAS, "碧螺春的售价是150元。", "verified"),
        (TEAS, "龙井茶的进价是98元。", "contradicted"),
        (TEAS, "龙井茶的进价是138元。", "unverified"),
    ],
)  # fmt: skip
def test_rows(document: str, sentence: str, expected: str, tmp_path: Path) -> None:
    assert verdict(sentence, document, tmp_path) == expected


@pytest.mark.parametrize(
    ("document", "sentence", "expected"),
    [
        (FLAT, "The deposit of flat 11 is 1200 pounds.", "verified"),
        (FLAT, "The deposit of flat 11 is 1,300 pounds.", "contradicted"),
        (FAIR, "The party made a surplus of £84.20.", "verified"),
        ("La cotización anual es de 1.300,50 euros.\n", "La cotización anual asciende a 1300,50 €.", "verified"),
        ("二、租金每月4200元，押一付三。\n", "租金是每个月4200元。", "verified"),
        ("Un ticket perdu est remboursé 12 euros.\n", "Un ticket perdu coûte 12 euros.", "unverified"),
        # Both numbers are there, in another order.
        (MARKS, "The pass mark is 50 for graduate modules and 40 for undergraduate ones.", "unverified"),
        # A word of the heading, or another one of the sentence, in the place of a word.
        (WATER, "The tenant pays the work and the landlord pays the service charge each year.", "unverified"),
        (WATER, "The landlord pays the water and the tenant pays the service charge each year.", "contradicted"),
        ("Run `<@` first.\n", "1 | `<@` 2", "not_covered"),
    ],
)  # fmt: skip
def test_numbers_and_places(document: str, sentence: str, expected: str, tmp_path: Path) -> None:
    assert verdict(sentence, document, tmp_path) == expected


def test_chinese_headings_state_nothing() -> None:
    assert not states("会费与活动时间")
    assert states("租金每月4200元")
