"""The verdict on a claim: what documents verify, contradict, leave open or do not cover."""

from pathlib import Path

import pytest

from actors.checking.claims import Claim, states
from actors.checking.spans import Found, density, words_of
from actors.checking.verdicts import judged
from bus.wire.parts import Passage
from index.text.citations import strip_markers

ROOT = Path(__file__).resolve().parents[3]
POLICY = """Annual leave

You can carry over a maximum of 240 annual leave hours from one leave year to the next. Award leave expires one year after \
it is issued. Expired award leave cannot be recovered. The trainer earns 30 dollars for each course, and the assistant 12.
Is the canteen open on Sundays?
"""


def claim_of(sentence: str) -> Claim:
    text = strip_markers(sentence).strip()
    return Claim(text=text, start=0, end=len(sentence), states=states(text))


def given(*texts: str) -> Found:
    return Found(
        [
            Passage(
                source_id=f"{number}.md", title="", url="", score=1.0, score_type="given", text=text, char_start=0,
                char_end=len(text), language="", snapshot="",
            )
            for number, text in enumerate(texts, 1)
        ]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Award leave expires one year after it is issued.", "verified"),
        ("Award leave expires one year after it is issued [3].", "verified"),
        ("Award leave expires two years after it is issued.", "contradicted"),
        ("Expired award leave can be recovered.", "contradicted"),
        ("Expired award leave is given to charities.", "unverified"),
        ("The canteen is open on Sundays.", "unverified"),
        ("Send 400 zlotys to zork@example.net, Xyzzy.", "not_covered"),
        ("Penguins huddle together during blizzards.", "not_covered"),
        ("Is award leave ever issued twice?", "no_claim"),
    ],
)
def test_verdicts(sentence: str, verdict: str) -> None:
    assert judged(claim_of(sentence), given(POLICY)).verdict == verdict


@pytest.mark.parametrize(
    ("document", "true", "false"),
    [
        ("환불은 상품을 받은 날부터 7일 이내에 신청해야 합니다.", "환불은 상품을 받은 날부터 7일 이내에 신청해야 합니다.",
         "환불은 상품을 받은 날부터 9일 이내에 신청해야 합니다."),
        ("员工每年享有十五天带薪年假。", "员工每年享有十五天带薪年假。", "员工每年享有二十天带薪年假。"),
        ("Les étudiants rendent leurs livres dans un délai de 14 jours.",
         "Les étudiants rendent leurs livres dans un délai de 14 jours.",
         "Les étudiants rendent leurs livres dans un délai de 40 jours."),
        ("La matrícula cuesta 350 euros por semestre.", "La matrícula cuesta 350 euros por semestre.",
         "La matrícula cuesta 530 euros por semestre."),
        ("يحق للطالب الغياب عن ثلاث محاضرات في الفصل.", "يحق للطالب الغياب عن ثلاث محاضرات في الفصل.",
         "يحق للطالب الغياب عن سبع محاضرات في الفصل."),
    ],
)  # fmt: skip
def test_verdicts_in_other_languages(document: str, true: str, false: str) -> None:
    found = given(document)
    assert judged(claim_of(true), found).verdict == "verified"
    assert judged(claim_of(false), found).verdict == "contradicted"


def test_contradiction_shows_both_sides() -> None:
    result = judged(claim_of("Award leave expires two years after it is issued."), given("Nothing.", POLICY))
    assert (result.words, result.spans[0].against) == ("two", "one")
    span = result.spans[0]
    assert (span.source_id, POLICY[span.start : span.end]) == (
        "2.md",
        "Award leave expires one year after it is issued.",
    )


def test_other_subjects_do_not_contradict() -> None:
    result = judged(claim_of("The cook earns 20 dollars for each evening."), given(POLICY))
    assert result.verdict in ("unverified", "not_covered")


def test_a_number_of_another_thing_does_not_contradict() -> None:
    found = given("It should take approximately 15 minutes and cost ~$2.15.")
    assert judged(claim_of("Each session take approximately 30 minutes."), found).verdict != "contradicted"


def test_another_document_verifies() -> None:
    old = POLICY.replace("one year after", "two years after")
    assert (
        judged(claim_of("Award leave expires two years after it is issued."), given(POLICY, old)).verdict == "verified"
    )


def test_short_claims_need_their_subject() -> None:
    found = given("# Award leave\n\nIt is 80 hours a year.\n")
    short = "It is 80 hours a year."
    about = [
        Claim(text=short, start=0, end=len(short), states=True, lead=lead) for lead in ("Award leave", "Jury duty")
    ]
    assert [judged(claim, found).verdict for claim in about] == ["verified", "unverified"]


@pytest.mark.parametrize(
    ("document", "claim"),
    [
        ("For example, the built-in pods resource contains a collection of objects.",
         "For instance, the built-in pods resource contains a collection of objects."),
        ("Every branch runs the code of the variant that the value has at that time.",
         "Every branch runs the code of the member that the value has at that time."),
        ("它会根据枚举的变体运行不同的代码。", "它会根据枚举的成员运行不同的代码。"),
    ],
)  # fmt: skip
def test_another_word_for_a_thing_does_not_contradict(document: str, claim: str) -> None:
    assert judged(claim_of(claim), given(document)).verdict == "unverified"


def test_exchanged_words_are_not_verified() -> None:
    found = given(
        "A cookie is a piece of text stored by your browser.", "当 `s1` 和 `s2` 离开作用域，都会释放相同的内存。"
    )
    assert judged(claim_of("A browser is a piece of text stored by your cookie."), found).verdict == "unverified"
    assert judged(claim_of("当 `s2` 和 `s1` 离开作用域，都会释放相同的内存。"), found).verdict == "verified"


def test_other_code_is_not_verified() -> None:
    found = given("如果我们确实需要深度复制堆上的数据，而不仅仅是栈上的数据，可以使用一个叫做 `clone` 的方法。")
    claim = "如果我们确实需要深度复制堆上的数据，而不仅仅是栈上的数据，可以使用一个叫做 `copy` 的方法。"
    assert judged(claim_of(claim), found).verdict == "unverified"


@pytest.mark.parametrize(
    ("document", "claim"),
    [
        ("The scheduler places pods by labels on pods rather than by labels on nodes.",
         "The scheduler places pods by labels on nodes."),
        ("Le service place les copies selon la charge plutôt que selon la mémoire.",
         "Le service place les copies selon la mémoire."),
        ("El servicio guarda las copias en el disco en lugar de guardarlas en la nube.",
         "El servicio guarda las copias en la nube."),
    ],
)  # fmt: skip
def test_what_a_document_rules_out_is_not_verified(document: str, claim: str) -> None:
    assert judged(claim_of(claim), given(document)).verdict != "verified"


@pytest.mark.parametrize(
    ("document", "claim", "verdict"),
    [
        ("The commands for keys and for new users include the option to set or to change an empty password.",
         "The commands for keys and for new users include the option to set or to change a random password.", "unverified"),
        ("The commands for keys and for new users include the option to set or to change an empty password.",
         "The commands for keys and for new users now include the option to set or to change an empty password.", "verified"),
        ("当变量离开作用域之后，编译器会自动调用函数并且清理这个变量所使用的全部内存。",
         "当变量进入作用域之后，编译器会自动调用函数并且清理这个变量所使用的全部内存。", "unverified"),
        ("如果需要深度复制堆上的数据，而不仅仅是栈上的数据，可以使用一个叫做克隆的常用方法。",
         "如果需要深度复制堆上的数据，而不仅仅是栈上的数据，可以使用一个叫做克隆的方法。", "verified"),
    ],
)  # fmt: skip
def test_a_word_may_be_added_and_not_replaced(document: str, claim: str, verdict: str) -> None:
    assert judged(claim_of(claim), given(document)).verdict == verdict


def test_few_words_of_a_long_span_verify_nothing() -> None:
    found = given(
        "If a repository does not exist, the program returns exit code 10 and prints the error message again."
    )
    assert judged(claim_of("The error code returns."), found).verdict == "unverified"


def test_reasons_show_words_as_written() -> None:
    result = judged(claim_of("Les élèves rendent chaque livre avant Noël."), given("Les élèves rendent un livre."))
    assert result.why == "the nearest span does not say it: nothing on chaque, avant Noël"


def test_chinese_in_other_words_is_covered() -> None:
    found = given("Rust 中的每一个值都有一个所有者。当所有者离开作用域，这个值将被丢弃。")
    result = judged(claim_of("Rust 中每一个值都被一个变量所拥有，该变量被称为值的所有者。"), found)
    assert result.verdict == "unverified"
    assert judged(claim_of("鸡蛋打散后加入少许盐，用小火慢慢煎熟。"), found).verdict == "not_covered"


def test_emphasis_within_chinese_changes_nothing() -> None:
    assert judged(claim_of("值被移动到了变量之中。"), given("值被 移动 到了变量之中。")).verdict == "verified"


def test_density_is_of_the_shortest_stretch() -> None:
    wanted = words_of("red blue")
    assert density(wanted, "red green blue red") == 1.0
    assert density(wanted, "red green green green blue") == 2 / 5
    assert density(wanted, "green") == 0.0


@pytest.mark.parametrize(
    "reason",
    [
        "copies the evidence but {", '"for a negation"', '"says it is {', '"negated, which', "the evidence negates this: “{",
        "the evidence says {",
    ],
)  # fmt: skip
def test_reasons_are_the_gates(reason: str) -> None:
    """The verdicts read the gate's reasons; a reason with other words would be taken for a contradiction."""
    assert any(reason in path.read_text(encoding="utf-8") for path in (ROOT / "actors" / "gate").rglob("*.py"))
