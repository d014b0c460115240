"""Names of countries and currencies carried from one language into the others."""

import pytest

from index.languages import LANGUAGES
from index.text.crossing import _names, _pattern, crossed


@pytest.mark.parametrize(
    ("question", "language", "into", "variants"),
    [
        ("스위스의 통화 코드는", "ko", ["fr", "ko"], {"fr": "Suisse 의 통화 코드는"}),
        (
            "瑞士的货币代码是什么？",
            "zh",
            ["en", "es"],
            {"en": "Switzerland 的货币代码是什么？", "es": "Suiza 的货币代码是什么？"},
        ),
        ("ما رمز عملة الأردن؟", "ar", ["en"], {"en": "ما رمز عملة Jordan ؟"}),
        ("the swiss franc in france", "en", ["zh"], {"zh": "the 瑞士法郎 in 法国"}),
        ("a malicious file", "en", ["fr"], {}),
        ("Who is the chairman?", "en", ["fr", "ko"], {}),
        ("스위스", "ko", ["ko", "und"], {}),
        ("Suisse", "und", ["ko"], {}),
    ],
)
def test_names_cross(question: str, language: str, into: list[str], variants: dict[str, str]) -> None:
    found = crossed(question, language, into)
    assert {other: " ".join(variant.split()) for other, variant in found.items()} == variants


@pytest.mark.parametrize("language", LANGUAGES)
def test_prefix_check_loses_no_name(language: str) -> None:
    (names, _), pattern = _names(language), _pattern(language)
    other = next(one for one in LANGUAGES if one != language)
    asked = [f"x {name} y" for name in names]
    assert [
        question for question in asked if pattern.search(question) and not crossed(question, language, [other])
    ] == []
