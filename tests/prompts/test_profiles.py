"""The five systems as profiles, invalid profiles, profiles that extend another, and the notices in every language."""

import re
import unicodedata
from datetime import date
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from actors.text.links import defang
from index.filters import Filter
from index.languages import LANGUAGES, of
from prompts import notices
from prompts.notices import ConflictingValue
from prompts.profiles import BUILT_IN, ProfileError, find, first_match, load, names, read
from prompts.vocabulary import DECLINED, Reason

GOOD = 'description = "Mine"\nlanguages = ["en", "fr"]\ndefault_language = "en"\n'


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


# ---------------------------------------------------------------- the five


@pytest.mark.parametrize(
    ("name", "languages", "simple", "hard", "release"),
    [
        ("general", set(LANGUAGES), "simple", "report", "sentence"),
        ("library", {"ko", "en"}, "synthesis", "synthesis", "draft"),
        ("tutor", {"fr", "ar", "en"}, "simple", "report", "sentence"),
        ("support", {"ko"}, "structured", "structured", "sentence"),
        ("myopia", {"zh"}, "simple", "report", "sentence"),
    ],
)
def test_five_profiles_match_the_table(name: str, languages: set[str], simple: str, hard: str, release: str) -> None:
    profile = load(name)
    assert (set(profile.languages), profile.simple_style, profile.complex_style) == (languages, simple, hard)
    assert (profile.release, profile.must_cite, profile.mask_personal_data) == (release, True, name == "support")
    assert set(profile.safe_reply) == set(profile.policy_words)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("support", "소송을 걸겠습니다", "소송을 걸겠"),
        ("support", "소송을 건 신문사는 어디인가요?", ""),
        ("support", "최소송금액이 얼마인가요?", ""),
        ("support", "주식에 투자해도 포인트가 쌓이나요?", ""),
        ("support", "회원 탈퇴는 어떻게 하나요?", ""),
        ("myopia", "请给我开个处方", "开个处方"),
        ("myopia", "自\u200b杀", "自杀"),
        ("general", "How do I MAKE  a\nbomb?", "make a bomb"),
        ("general", "the bombardier makes aeroplanes", ""),
        ("tutor", "Où trouver le corrigé de l’examen ?", "corrigé de l'examen"),
    ],
)
def test_policy_words_are_found_as_words(name: str, text: str, word: str) -> None:
    assert load(name).policy_word(text) == word


@pytest.mark.parametrize(
    ("text", "found"),
    [("PVC地板多少钱？", "PVC"), ("우리 집 PVC는?", "PVC"), ("A PVC floor", "PVC"), ("PVCX", ""), ("uPVC地板", "")],
)
def test_latin_word_stands_beside_other_scripts(text: str, found: str) -> None:
    assert first_match(("PVC",), text) == found


# ---------------------------------------------------------------- one's own


@pytest.mark.parametrize(
    ("scope", "agent", "model"),
    [
        ("", "", "extractive"),
        ('[scope.out_of_scope]\n"legal advice" = ["lawsuit"]\n', "", None),
        (
            '[scope.out_of_scope]\n"legal advice" = ["lawsuit"]\n',
            '[agents.classify_intent]\nmodel = "extractive"\n',
            "extractive",
        ),
    ],
)
def test_rules_classify_the_intent_unless_a_profile_lists_subjects(
    tmp_path: Path, scope: str, agent: str, model: str | None
) -> None:
    write(tmp_path, "ours", f'extends = "general"\ndescription = "Ours"\n{scope}{agent}')
    write(tmp_path, "mine", 'extends = "ours"\ndescription = "Mine"\n')
    for name in ("ours", "mine"):
        found = load(name, tmp_path).agents.get("classify_intent")
        assert (found.model if found else None) == model


def test_rules_classify_the_intent_without_subjects_to_let_in() -> None:
    without = [name for name in names() if not load(name).scope.in_scope]
    assert without == ["general", "library", "tutor"]
    assert {load(name).agents["classify_intent"].model for name in without} == {"extractive"}


def test_folder_adds_profiles_and_has_priority(tmp_path: Path) -> None:
    write(tmp_path, "mine", 'extends = "library"\nrelease = "sentence"\n[retrieval]\nk = 4\n')
    write(tmp_path, "general", 'extends = "general"\ndescription = "Ours"\n')
    assert "mine" in names(tmp_path)
    assert "library" in names(tmp_path)
    mine = load("mine", tmp_path)
    assert (mine.name, mine.release, mine.max_answer_chars) == ("mine", "sentence", 400)
    assert (mine.retrieval.k, mine.retrieval.low_relevance) == (4, 0.2)  # tables merge key by key
    assert load("general", tmp_path).description == "Ours"
    assert load("general").description != "Ours"
    assert find("general", tmp_path).parent == tmp_path
    assert find("tutor", tmp_path).parent == BUILT_IN


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD + "relase = 1", "relase: unknown key; did you mean 'release'?"),
        (GOOD + "[retrieval]\nbm25k = 3", "retrieval.bm25k: unknown key; did you mean 'bm25_k'?"),
        (GOOD + 'simple_style = "reports"', "simple_style: unknown value 'reports'; did you mean 'report'?"),
        (GOOD + '[answers]\nvoice = "help"', "answers.voice: unknown value 'help'"),
        (GOOD + 'release = "now"', "release: unknown value 'now'; one of draft, sentence, token"),
        (GOOD + "[agents.judge_relevanse]\nmax_tokens = 99", "agents.judge_relevanse: unknown value 'judge_relevanse'"),
        (
            GOOD + "[agents.judge_relevance]\ntemprature = 0.1",
            "agents.judge_relevance.temprature: unknown key; did you",
        ),
        (GOOD + '[agents.judge_relevance]\nreasoning_effort = "hig"', "did you mean 'high'?"),
        (GOOD + '[safe_reply]\nkr = "x"', "safe_reply.kr: unknown value 'kr'; one of "),
        (GOOD.replace('"fr"', '"dn"'), "languages[1]: unknown value 'dn'; one of "),
        (GOOD + "[agents.answer_hint]\ntemperature = 3.0", "agents.answer_hint.temperature: expected a number <= 2.0"),
        (GOOD + 'max_tokens = "many"', "max_tokens: expected a whole number, got a string"),
        ('description = "x"\nlanguages = ["en"]', 'default_language: is missing, or write `extends = "general"`'),
        (GOOD.replace('default_language = "en"', 'default_language = "ko"'), "default_language: 'ko' is not one of"),
        (GOOD + '[safety_advice]\nen = "See a doctor."', "safety_advice: has no fr, which `languages` lists"),
        (GOOD + 'release = "token"\nmax_answer_chars = 5', "max_answer_chars: cannot be kept when release is 'token'"),
        (GOOD + "[retrieval]\nk = 50", "retrieval.k: is more than bm25_k + vector_k can ever find"),
        (GOOD + 'name = "other"', "name: is 'other' but the file is called mine.toml"),
        (GOOD + 'extends = "genral"', "extends: there is no profile 'genral'; did you mean 'general'?"),
        (GOOD + "extends = 3", "extends: expected the name of a profile"),
        (GOOD + "=", "is not TOML:"),
    ],
)
def test_wrong_profile_is_refused_with_the_remedy(tmp_path: Path, text: str, problem: str) -> None:
    path = write(tmp_path, "mine", text)
    with pytest.raises(ProfileError) as refused:
        load("mine", tmp_path)
    assert str(refused.value).startswith(f"{path}: ")
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_wrong_key_gets_its_own_line(tmp_path: Path) -> None:
    path = write(tmp_path, "mine", GOOD + "relase = 1\nverfy = true\n[retrieval]\nkk = 2\n")
    assert [problem.partition(":")[0] for problem in read(path, tmp_path)[1]] == ["relase", "verfy", "retrieval.kk"]


def test_a_circle_of_profiles_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "one", 'extends = "two"\n')
    write(tmp_path, "two", 'extends = "one"\n')
    with pytest.raises(ProfileError, match="one -> two -> one goes round in a circle"):
        load("one", tmp_path)


@pytest.mark.parametrize("name", ["tutr", "../general", "", "general.toml"])
def test_unknown_profile_suggests_the_nearest(name: str) -> None:
    with pytest.raises(ProfileError, match="there is no profile"):
        load(name)


def test_profile_may_narrow_the_search(tmp_path: Path) -> None:
    write(tmp_path, "guide", GOOD + '[filter]\npath = "guide/**"\ntag = ["a", "b"]\nafter = 2026-01-31\n')
    write(tmp_path, "quoted", GOOD + '[filter]\nafter = "2026-01-31"\n')
    write(tmp_path, "wrong", GOOD + '[filter]\nafter = "May"\n')
    assert load("guide", tmp_path).filter == Filter(path="guide/**", tag=("a", "b"), after=date(2026, 1, 31))
    assert load("quoted", tmp_path).filter == Filter(after=date(2026, 1, 31))
    with pytest.raises(ProfileError, match=r"filter\.after: expected a date like 2026-01-31"):
        load("wrong", tmp_path)


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
    assert len({notices.reason_text(reason, language) for reason in get_args(Reason)}) == len(get_args(Reason))
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


def test_conflict_has_both_values_with_sources() -> None:
    sides = [
        ConflictingValue(value="30 days", source="[1]"),
        ConflictingValue(value="14 days", source="[2]"),
    ]
    assert notices.conflict_notice("en", sides).splitlines() == [
        "The sources disagree:",
        "- 30 days according to [1]",
        "- 14 days according to [2]",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_conflict_names_the_out_of_date_side(language: str) -> None:
    sides = [ConflictingValue(value="V", source="A [1]"), ConflictingValue(value="W", source="B [2]", outdated=True)]
    first, *values = notices.conflict_notice(language, sides).splitlines()
    assert first == notices.text("replies", "conflict_outdated", language)
    assert [("V" in line, "W" in line) for line in values] == [(True, False), (False, True)]
    assert defang("\n".join(values), ()) == "\n".join(values)
