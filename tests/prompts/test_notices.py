"""Every text exists in every language, takes the same values, and is written in its language."""

import re
import unicodedata

import msgspec
import pytest

from actors.text.links import defang
from index.languages import LANGUAGES, of
from prompts import notices
from prompts.notices import ConflictingValue
from prompts.vocabulary import DECLINED, REASONS

SCRIPT = {"es": "LATIN", "ko": "HANGUL", "zh": "CJK", "ar": "ARABIC", "en": "LATIN", "fr": "LATIN"}
ENGLISH = msgspec.to_builtins(of("en").notices)
KEYS = [(section, key) for section, texts in ENGLISH.items() for key in texts]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("section", "key"), KEYS)
def test_text_takes_the_same_values_in_every_language(section: str, key: str, language: str) -> None:
    here = notices.text(section, key, language)
    assert here.strip()
    assert sorted(re.findall(r"\{(\w+)\}", here)) == sorted(re.findall(r"\{(\w+)\}", ENGLISH[section][key]))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("section", "key"), [pair for pair in KEYS if pair[0] in ("reasons", "declined") or pair == ("replies", "safe")]
)
def test_text_uses_its_own_script(section: str, key: str, language: str) -> None:
    letters = [c for c in re.sub(r"\{\w+\}", "", notices.text(section, key, language)) if c.isalpha()]
    own = sum(unicodedata.name(c).startswith(SCRIPT[language]) for c in letters)
    assert own == len(letters)
    if language in ("es", "fr"):
        assert notices.text(section, key, language) != notices.text(section, key, "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_nine_reasons_have_nine_texts(language: str) -> None:
    assert len({notices.reason_text(reason, language) for reason in REASONS}) == len(REASONS) == 9
    assert len({notices.declined_text(kind, language) for kind in DECLINED}) == len(DECLINED)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "The documents cover only part of your question. Missing: price, date."),
        ("zh", "文档只涉及您问题的一部分。缺少：price、date。"),
        ("ar", "تتناول الوثائق جزءًا من سؤالك فقط. ما ينقص: price، date."),
        ("xx", "The documents cover only part of your question. Missing: price, date."),
    ],
)
def test_insufficient_names_the_missing_aspect(language: str, expected: str) -> None:
    assert notices.reason_text("insufficient", language, missing=("price", " date.\n")) == expected


def test_model_refusal_has_one_bounded_line() -> None:
    shown = notices.reason_text("model_refused", "en", refuse_reason="no {price}\n\nstated " + "x" * 5000)
    assert "no {price} stated" in shown
    assert "\n" not in shown
    assert len(shown) < 500


def test_unused_details_of_a_reason_are_left_out() -> None:
    assert notices.reason_text("timeout", "en", missing=("a",), refuse_reason="b") == ENGLISH["reasons"]["timeout"]


def test_safe_reply_names_existing_ids() -> None:
    assert notices.safe_reply("fr", ["faq-1", 2]).endswith("Sources trouvées : faq-1, 2.")
    assert notices.safe_reply("ko", profile_reply="상담원에게 연결합니다.") == "상담원에게 연결합니다."


def test_conflict_has_both_values_with_sources() -> None:
    sides = [
        ConflictingValue(value="30 days", source="[1]"),
        ConflictingValue(value="14 days", source="[2]", date="2024"),
    ]
    assert notices.conflict_notice("en", sides).splitlines() == [
        "The sources disagree:",
        "- 30 days according to [1]",
        "- 14 days according to [2] (2024)",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_conflict_names_the_out_of_date_side(language: str) -> None:
    sides = [ConflictingValue(value="V", source="A [1]"), ConflictingValue(value="W", source="B [2]", outdated=True)]
    first, *values = notices.conflict_notice(language, sides).splitlines()
    assert first == notices.text("replies", "conflict_outdated", language)
    assert [("V" in line, "W" in line) for line in values] == [(True, False), (False, True)]
    assert defang("\n".join(values), ()) == "\n".join(values)
