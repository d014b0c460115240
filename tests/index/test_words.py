"""Words as they are compared: forms, stems, negation, matches with a question, names in other languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.choosing.asked import fine_enough, holds, kind_of
from index.languages import LANGUAGES, of
from index.languages.characters import fold, normal, visible
from index.languages.meaning import nearness
from index.languages.negation import denies_too, excludes, is_negated, negations
from index.languages.translation import translated
from index.languages.words import Affix, affixes, grams, stem, terms
from index.text.crossing import _names, _pattern, crossed
from index.text.matching import content_words, matches


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("opened", "opening"),
        ("libraries", "library"),
        ("Refunds", "refund"),
        ("planned", "planning"),
        ("cancel", "cancelling"),
        ("cancelled", "cancellation"),
        ("familles", "famille"),
        ("annuel", "annuelle"),
        ("travailler", "travail"),
        ("étudiants", "etudiant"),
        ("remboursements", "remboursement"),
        ("도서관은", "도서관에서"),
        ("환불이", "환불을"),
        ("المكتبة", "مكتبة"),
        ("والكتب", "الكتب"),
        ("１９６４", "1964"),
        ("1,964", "1964"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(
    ("one", "other"), [("opened", "closed"), ("도서관", "박물관"), ("مكتبة", "متحف"), ("1964", "1965")]
)
def test_different_words_stay_different(one: str, other: str) -> None:
    assert terms(one) != terms(other)


@pytest.mark.parametrize(
    "text", ["what is the", "qu'est-ce que c'est", "그것은 무엇인가요", "是什么", "ما هو", "", "…!?"]
)
def test_function_words_are_no_terms(text: str) -> None:
    assert terms(text) == []


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert all(terms(text))
    assert all(grams(text))
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who founded the school?", "person"),
        ("When does it start?", "time"),
        ("How late can I cancel?", "time"),
        ("In what year was it built?", "time"),
        ("How many people came?", "count"),
        ("Where is the office?", "place"),
        ("Why did they leave?", "reason"),
        ("How does the pump work?", "manner"),
        ("What should I do if someone faints?", "manner"),
        ("The boiler leaks, what do I do?", "manner"),
        ("What form do I need?", "other"),
        ("What is myopia?", "definition"),
        ("Name the parts of a flower.", "other"),
        ("가스가 새면 뭘 해야 하나요?", "manner"),
        ("누가 학교를 세웠습니까?", "person"),
        ("언제 시작하나요?", "time"),
        ("몇 명이 왔나요?", "count"),
        ("며칠 안에 환불되나요?", "count"),
        ("사무실은 어디에 있나요?", "place"),
        ("왜 떠났습니까?", "reason"),
        ("漏水了该做什么？", "manner"),
        ("谁创办了学校？", "person"),
        ("什么时候开始？", "time"),
        ("来了多少人？", "count"),
        ("办公室在哪里？", "place"),
        ("他们为什么离开？", "reason"),
        ("Qu'est-ce que je dois faire si la chaudière fuit ?", "manner"),
        ("Que dois-je faire en cas de fuite ?", "manner"),
        ("Quel formulaire dois-je remplir ?", "other"),
        ("¿Qué hago si hay una fuga?", "manner"),
        ("Qui a fondé l'école ?", "person"),
        ("Quand commence le cours ?", "time"),
        ("Combien de personnes sont venues ?", "count"),
        ("Où se trouve le bureau ?", "place"),
        ("Pourquoi sont-ils partis ?", "reason"),
        ("ماذا أفعل إذا تسرب الماء؟", "manner"),
        ("من أسس المدرسة؟", "person"),
        ("متى تبدأ الدروس؟", "time"),
        ("كم شخصا حضر؟", "count"),
        ("أين يقع المكتب؟", "place"),
        ("لماذا غادروا؟", "reason"),
    ],
)
def test_the_kind_of_thing_asked_for(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("kind", "sentence", "question", "held"),
    [
        ("count", "Eight people came.", "How many people came?", True),
        ("count", "Many people came.", "How many people came?", False),
        ("count", "In 1964 people came.", "How many people came in 1964?", False),
        ("count", "사람이 세 명 왔다.", "몇 명이 왔나요?", True),
        ("count", "来了两个人。", "来了多少人？", True),
        ("count", "حضر ثلاثة أشخاص.", "كم شخصا حضر؟", True),
        ("time", "It was opened in May.", "When was it opened?", True),
        ("time", "It was opened by the mayor.", "When was it opened?", False),
        ("person", "The school was founded by Ellen Brandt.", "Who founded the school?", True),
        ("person", "The school was founded by sailors.", "Who founded the school?", False),
        ("reason", "They left because it rained.", "Why did they leave?", True),
        ("reason", "They left.", "Why did they leave?", False),
        # a price is answered by money alone
        ("count", "The tour lasts 90 minutes.", "What does the tour cost?", False),
        ("count", "A tour is 12 dollars for each of the 3 visitors.", "What does the tour cost?", True),
        ("count", "On Sundays the tour is free.", "How much does the tour cost on Sundays?", True),
        ("count", "La visite dure 90 minutes.", "Combien coûte la visite ?", False),
        ("count", "La visite est gratuite.", "Combien coûte la visite ?", True),
        ("count", "La visita dura 90 minutos.", "¿Cuánto cuesta la visita?", False),
        ("count", "Se pagan 8 por persona.", "¿Cuánto cuesta la visita?", True),
        ("count", "关节镜检查持续40分钟。", "关节镜检查多少钱？", False),
        ("count", "检查每次320元。", "关节镜检查多少钱？", True),
        ("count", "견학은 90분 걸립니다.", "견학 비용은 얼마인가요?", False),
        ("count", "한 사람에 5천 원입니다.", "견학 비용은 얼마인가요?", True),
        ("count", "تستغرق الجولة 90 دقيقة.", "كم تكلف الجولة؟", False),
        ("count", "الجولة بعشرين درهما.", "كم تكلف الجولة؟", True),
        ("count", "The pupils are 12.", "How much did the class grow?", True),
    ],
)
def test_new_content_of_a_kind_is_detected(kind: str, sentence: str, question: str, held: bool) -> None:
    assert holds(kind, sentence, question) is held  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "question", "enough"),
    [
        ("접수 번호는 24시간 안에 보냅니다.", "며칠 안에 신청하나요?", False),
        ("신청은 14일 이내에 합니다.", "며칠 안에 신청하나요?", True),
        ("A reply comes within 24 hours.", "How many days do I have?", False),
        ("Send it within two weeks.", "How many days do I have?", True),
        ("Send it within two weeks.", "How long do I have?", True),
        ("La réponse vient en 24 heures.", "Sous combien de jours répond-on ?", False),
        ("Se responde en 3 días.", "¿En cuántos días se responde?", True),
        ("24小时内答复。", "几天内答复？", False),
        ("يصل الرد خلال 14 يوما.", "كم يوما يستغرق الرد؟", True),
        ("يصل الرد خلال 24 ساعة.", "كم يوما يستغرق الرد؟", False),
    ],
)
def test_a_shorter_unit_than_asked_for_is_less(sentence: str, question: str, enough: bool) -> None:
    assert fine_enough(sentence, question) is enough


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("１２３４．５％", "1234.5%"),
        ("١٢٣٤٫٥", "1234.5"),
        ("۱۲۳", "123"),
        ("1\u202f234,5\u00a0€", "1 234,5 €"),
        ("L’État", "l'état"),
        ("km²", "km^2"),
        ("not\u200b al\u00adlowed\u202e", "not allowed"),
        ("الأُولى", "الاولي"),
        ("٣٠ ٪", "30 %"),
        ("–1—2", "-1-2"),
        ("e\u0301", "é"),
    ],
)
def test_normal(text: str, form: str) -> None:
    assert normal(text) == form


@given(st.text(max_size=60))
def test_normal_twice_is_normal_once(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(max_size=60), st.integers(0, 60))
def test_invisible_characters_change_nothing(text: str, at: int) -> None:
    for hidden in "\u200b\u202e\u2066\ufeff\u00ad":
        assert visible(text[:at] + hidden + text[at:]) == visible(text)


def test_first_matching_affix_row_counts() -> None:
    assert affixes(["3 s ication=ic", "2 ies=y s"]) == {
        "s": Affix(3, ""),
        "ication": Affix(3, "ic"),
        "ies": Affix(2, "y"),
    }


def test_longest_affix_with_enough_left_is_cut() -> None:
    assert [stem(word) for word in ("communications", "cations")] == ["communic", "cation"]
    assert {stem(word) for word in ("file", "files", "filed", "filing")} == {"fil"}
    assert {stem(word) for word in ("신청할", "신청해야", "신청하려면", "신청하면", "신청하세요")} == {"신청"}


@given(st.text(st.characters(categories=["L"]), min_size=1, max_size=12))
def test_a_stem_is_never_empty(word: str) -> None:
    assert stem(word)


#: Language, text in normal form, cue, what it turns.
TURNED = [
    ("en", "the fee is not refunded, but the deposit is", "not", " refunded"),
    ("en", "they don't open however late it is", "don't", " open "),
    ("es", "la fianza no se devuelve, pero el pago sí", "no", " se devuelve"),
    ("es", "una entrada sin billete pero gratuita", "sin", " billete "),
    ("fr", "le dépôt n'est pas remboursé, sauf accord", "pas", "n'est pas remboursé"),
    ("fr", "une entrée sans billet mais gratuite", "sans", " billet "),
    ("ko", "표는 안 팝니다", "안", "팝니다"),
    ("ko", "오늘은 표를 팔지 않습니다", "지 않", "오늘은 표를 팔"),
    ("ko", "값이 싸다. 표는 없다", "없", " 표는 "),
    ("zh", "商店不开门，可以预约", "不", "开门"),
    ("ar", "المتحف لا يفتح يوم الجمعه، ويفتح السبت", "لا", " يفتح يوم الجمعه"),
]
#: Phrases with a cue in them that deny nothing.
DENY_NOTHING = [
    ("en", "it is not only large but old"),
    ("es", "no solo es grande sino también antiguo"),
    ("ko", "그것뿐만 아니라 이것도 판다"),
    ("zh", "不仅大"),
    ("ar", "لا شك في هذا"),
]
#: As written.
DENIES = {
    "en": ("Which park isn't open?", "Which park is open?"),
    "es": ("¿Qué parque está excluido?", "¿Qué parque está abierto?"),
    "fr": ("Quel parc n’est pas ouvert ?", "Quel parc est ouvert ?"),
    "ko": ("열지 않은 공원은?", "연 공원은?"),
    "zh": ("哪个公园没有开放？", "哪个公园开放？"),
    "ar": ("أي حديقة غير مفتوحة ؟", "أي حديقة مفتوحة ؟"),
}


@pytest.mark.parametrize(("language", "text", "cue", "turned"), TURNED)
def test_cue_negates_its_scope(language: str, text: str, cue: str, turned: str) -> None:
    (found,) = negations(text, language)
    assert (found.cue, text[found.start : found.end]) == (cue, turned)


@pytest.mark.parametrize(("language", "text"), DENY_NOTHING)
def test_some_phrases_deny_nothing(language: str, text: str) -> None:
    assert not negations(text, language)


def test_contractions_without_apostrophes_deny_too() -> None:
    assert is_negated("who hasnt paid")
    assert terms("who hasnt paid") == terms("who hasn't paid")


@pytest.mark.parametrize("language", DENIES)
def test_negated_questions_are_distinguished(language: str) -> None:
    assert [is_negated(text) for text in DENIES[language]] == [True, False]


EXCLUDES = {
    "en": ("What is not covered", "What is covered"),
    "es": ("No puede comer", "Puede comer"),
    "fr": ("Garanties exclues", "Garanties incluses"),
    "ko": ("보장하지 않는 손해", "보장하는 손해"),
    "zh": ("责任免除", "保险责任"),
    "ar": ("الأطعمة غير المسموحة", "الأطعمة المسموحة"),
}


@pytest.mark.parametrize("language", EXCLUDES)
def test_excluding_headings_are_distinguished(language: str) -> None:
    heading, other = EXCLUDES[language]
    assert [excludes(heading), excludes(other), excludes(f"{heading}?")] == [True, False, False]


@pytest.mark.parametrize(("heading", "excluding"), [("不良反应", False), ("不适症状", False), ("不适用范围", True)])
def test_word_with_a_negation_in_it_excludes_nothing(heading: str, excluding: bool) -> None:
    assert excludes(heading) == excluding


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_can_negate(language: str) -> None:
    table = of(language).terms.negation
    assert table.before or table.after or table.circumfix.opens
    assert bool(table.circumfix.opens) == bool(table.circumfix.closes)
    assert table.reach > 0


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("How many days until refunds are paid?", "Paid within 14 days, or until May; a refund", ["Paid", "days", "refund"]),
        ("shipping fee", "Shipping  fee; shipping fee; shipping-fee.", ["Shipping", "fee", "shipping fee", "shipping-fee"]),
        ("what does --history-max do?", "Use `--history-max 5` or --max.", ["history-max", "max"]),
        ("1,000 won?", "It costs 1000 won, not 100.", ["1000 won"]),
        ("who is it?", "Who is it?", []),
        ("", "Anything at all.", []),
        ("환불은 며칠 안에 지급되나요?", "환불은 반품을 받은 날부터 14일 안에 지급됩니다.", ["환불", "안에 지급"]),
        ("배송비 환불", "무료배송비는 환불되지 않습니다.", ["배송비", "환불"]),
        ("책", "책을 산책하며 읽는다.", ["책"]),
        ("儿童每天应在户外活动多久？", "儿童每天应在户外活动至少两小时。", ["儿童每天应", "户外活动"]),
        ("متى تغلق المكتبة؟", "تُغلق المكتبة أبوابها. في المَكْتَبَةِ", ["تُغلق", "مكتبة", "مَكْتَبَةِ"]),
        ("Où sont les étudiants ?", "E\u0301tudiant, 👩‍🎓 étudiants", ["E\u0301tudiant", "étudiants"]),
        ("¿Cuántos libros puede llevarse?", "El libro puede llevarse.", ["libro", "llevarse"]),
        ("React Context란?", "React의 Context는 값을 전달합니다.", ["React", "Context"]),
    ],
)  # fmt: skip
def test_content_words_match_in_any_form(question: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in matches(text, content_words(question))] == found


@given(st.text("aB é환불은学校أَل\u0301\u1161-— \n1,👩", max_size=60), st.text("aB é환불学校أل1 ", max_size=20))
def test_stretches_are_ordered_and_separate(text: str, question: str) -> None:
    found = matches(text, content_words(question))
    edges = [at for stretch in found for at in stretch]
    assert edges == sorted(set(edges))
    assert all(0 <= at <= len(text) for at in edges)


@pytest.mark.parametrize(
    ("question", "language", "into", "variants"),
    [
        ("스위스의 통화 코드는", "ko", ["fr", "ko"], {"fr": "Suisse 의 통화 코드는"}),
        ("瑞士的货币代码是什么？", "zh", ["en", "es"],
         {"en": "Switzerland 的货币代码是什么？", "es": "Suiza 的货币代码是什么？"}),
        ("ما رمز عملة الأردن؟", "ar", ["en"], {"en": "ما رمز عملة Jordan ؟"}),
        ("the swiss franc in france", "en", ["zh"], {"zh": "the 瑞士法郎 in 法国"}),
        ("a malicious file", "en", ["fr"], {}),
        ("Who is the chairman?", "en", ["fr", "ko"], {}),
        ("스위스", "ko", ["ko", "und"], {}),
        ("Suisse", "und", ["ko"], {}),
    ],
)  # fmt: skip
def test_names_cross(question: str, language: str, into: list[str], variants: dict[str, str]) -> None:
    found = crossed(question, language, into)
    assert {other: " ".join(variant.split()) for other, variant in found.items()} == variants


@pytest.mark.parametrize(
    ("text", "language", "other", "has", "lacks"),
    [
        ("환불 절차", "ko", "en", {"refund", "procedure"}, {"the"}),
        ("the refund of the visa", "en", "fr", {"visa"}, {"the", "of", "le"}),
        ("员工休假", "zh", "es", {"empleados", "vacaciones"}, {"的"}),
        ("the employees of ISO 9001", "en", "ko", {"iso", "9001", "직원들이"}, {"of"}),
        ("الموظفين", "ar", "en", {"employees"}, set()),
    ],
)
def test_words_cross(text: str, language: str, other: str, has: set[str], lacks: set[str]) -> None:
    words = set(translated(text, language, other).split())
    assert has <= words
    assert not lacks & words


@pytest.mark.parametrize(
    ("text", "language", "other"),
    [("refund", "en", "en"), ("refund", "und", "ko"), ("refund", "en", "und"), ("?", "en", "ko"), ("qzxv", "en", "ko")],
)
def test_nothing_crosses_without_known_words(text: str, language: str, other: str) -> None:
    assert translated(text, language, other) == ""


HOLIDAYS = {
    "ar": "كم يوما إجازة للموظفين؟",
    "en": "How many days of holiday do employees have?",
    "es": "¿Cuántos días de vacaciones tienen los empleados?",
    "fr": "Combien de jours de congé ont les employés ?",
    "ko": "직원의 휴가는 며칠입니까?",
    "zh": "员工有多少天假期？",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_are_near_in_meaning(language: str) -> None:
    others = [*HOLIDAYS.values(), "Turn the screw to the left.", "프린터에 종이를 넣으십시오.", ""]
    near = dict(zip(others, nearness(HOLIDAYS[language], others), strict=True))
    assert near[HOLIDAYS[language]] == pytest.approx(1, abs=0.01)
    assert min(near[text] for text in HOLIDAYS.values()) > max(near[text] for text in others[-3:])
    assert near[""] == 0


def test_pieces_that_stand_together_are_nearer() -> None:
    rest = "Turn the screw to the left. " * 10
    beside, apart = f"{rest}days of holiday {rest}", f"holiday {rest}{rest}of days"
    short = "Every employee has holidays."
    whole, together = (nearness(HOLIDAYS["fr"], [beside, apart, short], together=on) for on in (False, True))
    assert whole[0] == pytest.approx(whole[1])
    assert together[0] > together[1]
    assert together[2] == pytest.approx(whole[2])
    assert together[0] == pytest.approx(nearness(HOLIDAYS["fr"], [beside], together=True)[0])


@pytest.mark.parametrize("text", ["", "?!", "\u0378"])
def test_text_without_words_is_near_nothing(text: str) -> None:
    assert nearness(text, ["a text"]) == [0.0]
    assert nearness("a question", [text, text]) == [0.0, 0.0]
    assert nearness("a question", [text, "a word"], together=True)[0] == 0
    assert nearness("a question", []) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_prefix_check_loses_no_name(language: str) -> None:
    (names, _), pattern = _names(language), _pattern(language)
    other = next(one for one in LANGUAGES if one != language)
    asked = [f"x {name} y" for name in names]
    assert [
        question for question in asked if pattern.search(question) and not crossed(question, language, [other])
    ] == []


@pytest.mark.parametrize(
    ("heading", "sentence", "denies"),
    [
        ("Not covered", "A sick pet is not covered.", True),
        ("Not covered", "Guests who have not paid the deposit.", False),
        ("Not included", "Towels without lace.", False),
        ("Ce qui n'est pas couvert", "La grossesse n'est pas un motif.", True),
        ("No cubierto", "El embarazo no es un motivo.", True),
        ("보장하지 않는 것", "임신은 사유가 되지 않는다.", True),
        ("不承保的情况", "怀孕不是理由。", True),
        ("لا يشمل", "الحمل لا يعد سببا.", True),
        ("لا يشمل", "الأمتعة الثمينة.", False),
    ],
)
def test_sentence_may_deny_what_its_heading_denies(heading: str, sentence: str, denies: bool) -> None:
    assert denies_too(sentence, heading) == denies
