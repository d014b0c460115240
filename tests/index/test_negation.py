"""Which words of a sentence a negation applies to, for each way in which languages negate."""

import pytest

from index.languages import LANGUAGES, of
from index.languages.negation import is_negated, negations

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


@pytest.mark.parametrize("language", DENIES)
def test_negated_questions_are_distinguished(language: str) -> None:
    assert [is_negated(text) for text in DENIES[language]] == [True, False]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_can_negate(language: str) -> None:
    table = of(language).terms.negation
    assert table.before or table.after or table.circumfix.opens
    assert bool(table.circumfix.opens) == bool(table.circumfix.closes)
    assert table.reach > 0
