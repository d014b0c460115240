"""Each flag in every language: what must be caught, and what must be let through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.facts.lexicon import forces
from actors.gate.check import check_contents, check_sentence, withholds
from actors.gate.flags import STRONG, standing
from index.languages.characters import normal
from prompts.contracts import Evidence

PASSAGES = {
    "ko": "환불은 구매 후 7일 안에 신청해야 한다. 수수료는 구매 금액의 3.5%이며 최대 3만 5천 원이다. 개봉한 상품은 환불할 수 없다. "
    "고객은 영수증을 보관하는 것이 좋다. 매장은 1998년 3월 5일 서울에 문을 열었다. 직원은 “언제든 도와 드립니다”라고 말했다.",
    "en": "Refunds must be requested within 7 days of purchase. The fee is 3.5% of the price, at most 35,000 won. Opened goods "
    "cannot be refunded. Customers should keep the receipt. The shop was opened in Seoul on 5 March 1998 by Mina Park. "
    "A clerk said “we are glad to help at any time”. Sales increased between 2010 and 2015.",
    "zh": "退款必须在购买后7天内申请。手续费为金额的3.5%，最高3万5千元。已开封的商品不能退款。建议顾客保留收据。"
    "该店于1998年3月5日在首尔开业。店员说：“我们随时乐意帮忙”。2010年至2015年销售额增加。",
    "fr": "Le remboursement doit être demandé dans les 7 jours suivant l'achat. Les frais sont de 3,5 % du prix, au maximum "
    "35 000 wons. Les produits ouverts ne peuvent pas être remboursés. Il est recommandé de garder le reçu. Le magasin a "
    "ouvert à Séoul le 5 mars 1998. Une employée a dit : « nous sommes heureux d'aider à tout moment ». La livraison est "
    "gratuite.",
    "es": "El reembolso debe solicitarse en los 7 días siguientes a la compra. La comisión es del 3,5 % del precio, como máximo "
    "35.000 wones. Los productos abiertos no se pueden devolver. Se recomienda guardar el recibo. La tienda abrió en Seúl el "
    "5 de marzo de 1998. Una empleada dijo: «nos alegra ayudar en cualquier momento». El envío es gratuito.",
    "ar": "يجب طلب استرداد المال خلال 7 أيام من الشراء. الرسوم 3.5% من السعر، وتبلغ 35,000 وون كحد أقصى. لا يمكن استرداد ثمن "
    "السلع المفتوحة. يوصى الزبائن بالاحتفاظ بالإيصال. افتتح المتجر في سيول في 5 مارس 1998. قال الموظف «نحن سعداء "
    "بالمساعدة في أي وقت».",
}  # fmt: skip


def evidence(language: str) -> list[Evidence]:
    other = Evidence(n=2, source_id="other", title="", text="99")
    return [Evidence(n=1, source_id=language, title="", text=PASSAGES[language]), other]


def strong(sentence: str, language: str) -> set[str]:
    return {one.kind for one in check_sentence(sentence, evidence(language)) if one.strength == "strong"}


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("ko", "환불은 구매 후 칠 일 안에 신청해야 한다 [1]."),
        ("ko", "수수료는 3.5퍼센트이며 35,000원을 넘지 않는다 [1]."),
        ("ko", "매장은 1998. 3. 5. 서울에 문을 열었다 [1]."),
        ("ko", "직원은 “언제든 도와 드립니다”라고 말했다 [1]."),
        ("ko", "2. 개봉한 상품은 환불할 수 없다 [1]."),
        ("ko", "출처: 안내서 2024, 12쪽 [1]"),
        ("en", "**Source:** handbook-2024.pdf, p. 12"),
        ("en", "## Refund Policy and Opening Hours"),
        ("en", "- **Key Points**: Refunds must be requested within 7 days of purchase [1]."),
        ("en", "1. Buyers must request refunds within 7 days of purchase [1]."),
        ("en", "## 4) Opened goods cannot be refunded [1]."),
        ("en", "Refunds must be requested within seven days of purchase [1]."),
        ("en", "The fee is 3.5 percent of the price, at most thirty-five thousand won [1]."),
        ("en", "The shop was opened in Seoul on March 5th, 1998 by Mina Park [1]."),
        ("en", "Opened goods cannot be refunded [1]."),
        ("en", "Sales increased in 2012 [1]."),
        ("en", 'A clerk said "we are glad ... at any time" [1].'),
        ("zh", "退款必须在购买后七天内申请［１］。"),
        ("zh", "手续费最高35,000元[1]。"),
        ("zh", "2012年销售额增加[1]。"),
        ("fr", "Le remboursement doit être demandé dans les sept jours suivant l'achat [1]."),
        ("fr", "Les frais sont de 3.5 % du prix, au maximum 35.000 wons [1]."),
        ("fr", "Le magasin a ouvert à Séoul le 5/3/1998 [1]."),
        ("es", "El reembolso debe solicitarse en los siete días siguientes a la compra [1]."),
        ("es", "La comisión es del 3.5 por ciento del precio, como máximo treinta y cinco mil wones [1]."),
        ("es", "La tienda abrió en Seúl el 5/3/1998 [1]."),
        ("es", "Los productos abiertos no se pueden devolver [1]."),
        ("ar", "يجب طلب استرداد المال خلال سبعة أيام من الشراء [١]."),
        ("ar", "الرسوم ٣٫٥٪ من السعر، وتبلغ ٣٥٬٠٠٠ وون كحد أقصى [1]."),
        ("ar", "افتتح المتجر في سيول في 5 مارس 1998 [1]."),
    ],
)
def test_true_sentences_pass(language: str, sentence: str) -> None:
    assert strong(sentence, language) == set()


@pytest.mark.parametrize(
    ("language", "sentence", "kind"),
    [
        ("ko", "환불은 구매 후 9일 안에 신청해야 한다 [1].", "fabricated_number"),
        ("ko", "수수료는 구매 금액의 3.5%이며 최대 5만 5천 원이다 [1].", "fabricated_number"),
        ("ko", "매장은 1998년 5월 5일 서울에 문을 열었다 [1].", "fabricated_number"),
        ("ko", "환불은 구매 후 7개월 안에 신청해야 한다 [1].", "fabricated_number"),
        ("ko", "개봉한 상품은 환불할 수 있다 [1].", "reversed_term"),
        ("ko", "환불은 구매 후 7일 안에 신청하지 않아도 된다 [1].", "reversed_term"),
        ("ko", "고객은 영수증을 보관해야 한다 [1].", "reversed_term"),
        ("ko", "직원은 “언제든 거절합니다”라고 말했다 [1].", "fabricated_quote"),
        ("ko", "환불은 구매 후 7일 안에 신청해야 한다 [3].", "citation_out_of_range"),
        ("en", "Refunds must be requested within 9 days of purchase [1].", "fabricated_number"),
        ("en", "Refunds must be requested within 7 weeks of purchase [1].", "fabricated_number"),
        ("en", "The shop was opened in Seoul on 5 May 1998 [1].", "fabricated_number"),
        ("en", "The fee is 7 % of the price [1].", "fabricated_number"),
        ("en", "Opened goods can be refunded [1].", "reversed_term"),
        ("en", "Refunds should be requested within 7 days of purchase [1].", "reversed_term"),
        ("en", "Customers must keep the receipt [1].", "reversed_term"),
        ("en", "The fee is 3.5% of the price, at least 35,000 won [1].", "reversed_term"),
        ("en", "Sales decreased between 2010 and 2015 [1].", "reversed_term"),
        ("en", "The shop was not opened in Seoul [1].", "reversed_term"),
        ("en", "The shop was opened in Seoul by Jane Miller [1].", "reversed_term"),
        ("en", "A clerk said “we never help” [1].", "fabricated_quote"),
        ("en", "Refunds must be requested within 7 days of purchase [1-3].", "citation_out_of_range"),
        ("zh", "退款必须在购买后9天内申请[1]。", "fabricated_number"),
        ("zh", "手续费为金额的3.5%，最高5万5千元[1]。", "fabricated_number"),
        ("zh", "已开封的商品可以退款[1]。", "reversed_term"),
        ("zh", "退款不必在购买后7天内申请[1]。", "reversed_term"),
        ("zh", "顾客必须保留收据[1]。", "reversed_term"),
        ("zh", "2010年至2015年销售额减少[1]。", "reversed_term"),
        ("zh", "店员说：“我们从不帮忙”[1]。", "fabricated_quote"),
        ("zh", "退款必须在购买后7天内申请【9】。", "citation_out_of_range"),
        ("fr", "Le remboursement doit être demandé dans les 9 jours suivant l'achat [1].", "fabricated_number"),
        ("fr", "Le magasin a ouvert à Séoul le 5 mai 1998 [1].", "fabricated_number"),
        ("fr", "Les produits ouverts peuvent être remboursés [1].", "reversed_term"),
        ("fr", "Le remboursement peut être demandé dans les 7 jours suivant l'achat [1].", "reversed_term"),
        ("fr", "Il est obligatoire de garder le reçu [1].", "reversed_term"),
        ("fr", "La livraison n'est pas gratuite [1].", "reversed_term"),
        ("fr", "La livraison est payante [1].", "reversed_term"),
        ("fr", "Une employée a dit : « nous n'aidons jamais » [1].", "fabricated_quote"),
        ("fr", "La livraison est gratuite [7].", "citation_out_of_range"),
        ("es", "El reembolso debe solicitarse en los 9 días siguientes a la compra [1].", "fabricated_number"),
        ("es", "El reembolso debe solicitarse en los doce días siguientes a la compra [1].", "fabricated_number"),
        ("es", "La tienda abrió en Seúl el 5 de mayo de 1998 [1].", "fabricated_number"),
        ("es", "Los productos abiertos se pueden devolver [1].", "reversed_term"),
        ("es", "El reembolso puede solicitarse en los 7 días siguientes a la compra [1].", "reversed_term"),
        ("es", "Es obligatorio guardar el recibo [1].", "reversed_term"),
        ("es", "El envío no es gratuito [1].", "reversed_term"),
        ("es", "Una empleada dijo: «no ayudamos nunca» [1].", "fabricated_quote"),
        ("es", "El envío es gratuito [7].", "citation_out_of_range"),
        ("ar", "يجب طلب استرداد المال خلال 9 أيام من الشراء [1].", "fabricated_number"),
        ("ar", "يجب طلب استرداد المال خلال 7 أشهر من الشراء [1].", "fabricated_number"),
        ("ar", "يمكن استرداد ثمن السلع المفتوحة [1].", "reversed_term"),
        ("ar", "لا يجب طلب استرداد المال خلال 7 أيام من الشراء [1].", "reversed_term"),
        ("ar", "يجب على الزبائن الاحتفاظ بالإيصال [1].", "reversed_term"),
        ("ar", "قال الموظف «لا نساعد أحدا» [1].", "fabricated_quote"),
        ("ar", "افتتح المتجر في سيول [٩].", "citation_out_of_range"),
    ],
)
def test_lies_are_caught(language: str, sentence: str, kind: str) -> None:
    assert kind in strong(sentence, language)


@pytest.mark.parametrize(
    ("text", "sentence", "kind"),
    [
        ("Lake Orta is a small lake in Piedmont.", "Lake Orta is a volcano.", "reversed_term"),
        ("Lake Orta is a small lake in Piedmont.", "Lake Orta is a lake.", None),
        ("Lake Orta is a small lake in Piedmont.", "Lake Orta is not a volcano.", None),
        ("She sang with the choir in Turin.", "Anna Bianchi sang in Turin.", None),
        ("L'Orta est un lac du Piémont.", "L'Orta est un volcan.", "reversed_term"),
        ("The match was played on Monday.", "The match was played on Friday.", "reversed_term"),
        ("It rained in 1957.", "It rained in the 1950s.", None),
        ("It rained in the 1950s.", "It rained in 1957.", None),
        ("It rained in 1957.", "It rained in the 1960s.", "fabricated_number"),
        ("The bridge is 798 metres long.", "The bridge is about 800 metres long.", None),
        ("The bridge is 800 metres long.", "The bridge is about 798 metres long.", "fabricated_number"),
        ("The bridge is 798 metres long.", "The bridge is more than 700 metres long.", None),
        ("The bridge is 798 metres long.", "The bridge is more than 900 metres long.", "fabricated_number"),
        ("회원은 39명이다.", "회원은 약 40명이다.", None),
        ("회원은 39명이다.", "회원은 30명 이상이다.", None),
        ("회원은 39명이다.", "회원은 50명 이상이다.", "fabricated_number"),
        ("Doors close at 15:00.", "Doors close at 3 pm.", None),
        ("매장은 오후 6시에 닫는다.", "매장은 18시에 닫는다.", None),
        ("매장은 오후 6시에 닫는다.", "매장은 19시에 닫는다.", "fabricated_number"),
        ("도서관은 무료이다.", "도서관은 유료이다.", "reversed_term"),
        ("图书馆免费开放。", "图书馆收费开放。", "reversed_term"),
        ("زاد عدد الزوار في المتحف.", "انخفض عدد الزوار في المتحف.", "reversed_term"),
    ],
)
def test_one_sentence_against_one(text: str, sentence: str, kind: str | None) -> None:
    items = [Evidence(n=1, source_id="a", title="", text=text)]
    found = {one.kind for one in check_sentence(sentence, items) if one.strength == "strong"}
    assert found == ({kind} if kind else set())


@pytest.mark.parametrize(
    ("text", "sentence", "expected"),
    [
        ("She sang with the choir in Turin.", "Anna Bianchi sang in Geneva.", "unverified"),
        ("도서관은 매일 연다.", "도서관은 아무 날도 열지 않는다.", "withheld"),
        ("회원은 명찰을 착용하여야 한다.", "회원은 명찰을 착용하는 것이 권고된다.", "withheld"),
        ("회원은 회비를 매달 납부해야 한다.", "회원은 회비를 매달 납부할 필요가 없다.", "withheld"),
        ("회원은 회비를 매달 납부하여야 한다.", "회원은 회비를 매달 납부하지 않아도 된다.", "withheld"),
        ("실내에서 촬영해서는 안 된다.", "실내에서 촬영해도 된다.", "withheld"),
        ("회원은 회비를 매달 납부할 필요가 없다.", "회원은 회비를 매달 납부하지 않아도 된다.", "verified"),
        ("Les membres doivent payer en mai.", "Les membres n'ont pas besoin de payer en mai.", "withheld"),
        ("L'accès n'est pas autorisé aux chiens.", "L'accès est interdit aux chiens.", "verified"),
        ("A reader may borrow 8 books for a month.", "The loan is nine books.", "unverified"),
        ("A reader may borrow 8 books for a month.", "The loan is eight books.", "verified"),
        ("한 사람이 책 8권을 빌릴 수 있다.", "한 사람은 책 아홉 권을 빌린다.", "unverified"),
        ("Los socios deben pagar en mayo.", "No hace falta que los socios paguen en mayo.", "unverified"),
        ("会员必须在五月缴费。", "会员无需在五月缴费。", "withheld"),
        ("The festival drew large crowds.", "The festival of 2019 drew large crowds.", "unverified"),
        ("The festival of 2018 drew large crowds.", "The festival of 2019 drew large crowds.", "withheld"),
        ("Guests may call reception “the desk”.", "Reception is also known as “the desk”.", "verified"),
        ("The band sang on stage with an orchestra.", "The band sang for 45 pupils of a village school.", "unverified"),
        ("The band sang in 30 cities.", "The band sang in 45 cities.", "withheld"),
        ("She teaches piano to small children.", "The 45 trams of the city run at night.", "withheld"),
        ("An estimated 1, 200 people came.", "An estimated 1,200 people came.", "verified"),
        ("The band played a song in Rome.", "The band played the song “Over The Moon” in Rome.", "unverified"),
        ("The band played a song in Rome.", "The band played a song in Rome, “over the moon and back”.", "withheld"),
        ("The doctor prescribed a medicine.", "A physician ordered drugs.", "unverified"),
        ("The doctor prescribed a medicine.", "Transfer the money today.", "withheld"),
    ],
)
def test_what_goes_beyond_is_marked(text: str, sentence: str, expected: str) -> None:
    items = [Evidence(n=1, source_id="a", title="", text=text)]
    assert standing(check_sentence(f"{sentence} [1]", items)) == expected


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("ko", "구매하고 7일이 지나기 전에 환불을 신청해야 한다 [1]."),
        ("ko", "이미 개봉한 상품이라면 환불받을 수 없다 [1]."),
        ("en", "Anyone who wants a refund must ask for it within 7 days of the purchase [1]."),
        ("en", "It is a good idea for customers to keep the receipt [1]."),
        ("zh", "想要退款的顾客，必须在购买后7天内提出申请[1]。"),
        ("zh", "商品一旦开封，就不能退款[1]。"),
        ("fr", "Il faut demander le remboursement au plus tard 7 jours après l'achat [1]."),
        ("fr", "Un produit déjà ouvert ne peut pas être remboursé [1]."),
        ("es", "Hay que pedir el reembolso como máximo 7 días después de la compra [1]."),
        ("es", "Un producto ya abierto no se puede devolver [1]."),
        ("ar", "على من يريد استرداد المال أن يطلب ذلك خلال 7 أيام من الشراء [1]."),
        ("ar", "من المستحسن أن يحتفظ الزبائن بالإيصال [1]."),
    ],
)
def test_free_paraphrases_are_shown(language: str, sentence: str) -> None:
    assert strong(sentence, language) == set()


def test_flag_names_words_evidence_and_reason() -> None:
    (found,) = check_sentence("Refunds must be requested within 9 days of purchase [1].", evidence("en"))
    assert (found.kind, found.strength, found.words, found.evidence_n) == ("fabricated_number", "strong", "9", (1,))
    assert found.why == "9: the evidence says 7 there"


def test_only_cited_spans_count() -> None:
    assert "fabricated_number" in strong("The fee is at most 35,000 won [2].", "en")
    assert strong("There are 99 [2].", "en") == set()


def test_a_citation_of_the_wrong_evidence() -> None:
    items = [
        Evidence(n=1, source_id="a", title="", text="The library lends novels and maps to every resident."),
        Evidence(n=2, source_id="b", title="", text="The pool is closed for repairs until spring."),
    ]
    sentence = "The library lends novels and maps to every resident"
    assert not withholds(check_sentence(f"{sentence} [1].", items))
    assert not withholds(check_sentence(f"{sentence} [1][2].", items))
    (found,) = [one for one in check_sentence(f"{sentence} [2].", items) if one.strength == "strong"]
    assert (found.kind, found.why) == ("citation_out_of_range", "stands in 1, not in 2")


def test_right_number_decides_between_two_pieces_of_evidence() -> None:
    late = Evidence(n=1, source_id="a", title="", text="Late departure costs 15 euros.")
    then = Evidence(n=2, source_id="b", title="", text="Le départ tardif jusqu'à 14 h coûte 25 euros.")
    assert not withholds(check_sentence("Late departure costs 25 euros [2].", [late, then], language="en"))
    assert withholds(check_sentence("Late departure costs 15 euros [2].", [late, then], language="en"))


@pytest.mark.parametrize("marker", ["[3]", "[1, 3]", "[1][3]", "［３］", "【3】", "[٣]", "[3\u200b]"])
def test_a_citation_that_does_not_exist(marker: str) -> None:
    assert "citation_out_of_range" in strong(f"The shop was opened in Seoul {marker}.", "en")


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("The shop was opened in Seoul.", {"uncited"}),
        ("The shop was opened in Seoul [1].", set()),
        ("Is there anything else?", set()),
        ("# Refunds", set()),
        ("### Argument 3: the fee", set()),
        ("Le magasin a ouvert à Séoul le 5 mars 1998 [1].", {"wrong_language"}),
        ("Purple elephants juggle burning torches nightly [1].", {"unverified"}),
        ("Seoul [1].", set()),
    ],
)
def test_weak_flags(sentence: str, kinds: set[str]) -> None:
    found = check_sentence(sentence, evidence("en") + evidence("fr")[:0], language="en")
    assert {one.kind for one in found if one.strength == "weak"} >= kinds
    assert kinds or {one.kind for one in found if one.strength == "weak"} == set()


def test_without_evidence_every_citation_is_out_of_range() -> None:
    assert check_sentence("The shop was opened in Seoul.", []) == ()
    assert [one.kind for one in check_sentence("The shop was opened in Seoul [1].", [])] == ["citation_out_of_range"]


def test_range_covers_its_inside_but_no_other_bounds() -> None:
    items = [Evidence(n=1, source_id="a", title="", text="The treatment takes 4 to 6 weeks.")]
    assert not withholds(check_sentence("The treatment takes 5 weeks.", items))
    assert withholds(check_sentence("The treatment takes 5 to 6 weeks.", items))
    assert withholds(check_sentence("The treatment takes 7 weeks.", items))


@pytest.mark.parametrize(
    ("lift", "pool", "claims"),
    [
        ("The lift is for people of at most 80 kg, with luggage of at most 20 kg.", "The pool is open from 6 to 22 hours.",
         "The lift is for people of at most {} kg [1]; the pool is open from 6 to 22 hours [2]."),
        ("电梯限载不超过80公斤、行李不超过20公斤的人。", "泳池开放时间为6点到22点。",
         "电梯限载不超过{}公斤的人[1]；泳池开放时间为6点到22点[2]。"),
        ("승강기는 80kg 이하이고 짐이 20kg 이하인 사람만 탄다.", "수영장은 6시부터 22시까지 연다.",
         "승강기는 {}kg 이하인 사람만 타고 [1], 수영장은 6시부터 22시까지 연다 [2]."),
    ],
)  # fmt: skip
def test_bound_bounds_no_other(lift: str, pool: str, claims: str) -> None:
    items = [Evidence(n=n, source_id=str(n), title="", text=text) for n, text in enumerate((lift, pool), 1)]
    assert not withholds(check_sentence(claims.format(80), items))
    assert withholds(check_sentence(claims.format(95), items))


@pytest.mark.parametrize(
    "text", ["《泳池须知》\n", "> Pool rules\n", "**Pool rules**", "— “Pool rules”", "《泳池须知》[1]。"]
)
def test_title_of_a_source_claims_nothing(text: str) -> None:
    items = [
        Evidence(
            n=1, source_id="p", title="泳池须知 | 体育馆 | Pool rules", text="The pool is open from 6 to 22 hours."
        )
    ]
    assert check_sentence(text, items, language="zh") == ()
    assert check_sentence("Gym rules of 1999\n", items) != ()


def test_equal_number_elsewhere_excuses_no_wrong_one() -> None:
    text = "Adults take 2 tablets a day. Children under 12 years take 1 tablet a day for 5 days."
    items = [Evidence(n=1, source_id="a", title="", text=text)]
    assert withholds(check_sentence("Adults take 5 tablets a day.", items))
    assert not withholds(check_sentence("Adults take 2 tablets a day.", items))


def test_other_languages_compare_only_numbers() -> None:
    items = evidence("en")
    assert not withholds(check_sentence("환불은 7일이 지나면 되지 않는다 [1].", items))
    assert withholds(check_sentence("환불은 9일이 지나면 되지 않는다 [1].", items))


def test_long_quotation_is_checked_in_each_sentence() -> None:
    answer = "She said “we are glad to help. We are always open” [1]."
    assert [one.words for one in check_contents(answer, evidence("en")) if one.kind == "fabricated_quote"] == [
        "We are always open"
    ]


@given(st.sampled_from(sorted(PASSAGES)), st.integers(0, 5), st.sampled_from("\u200b\u202e\u2069\ufeff"))
def test_verbatim_sentence_passes_with_invisible_characters(language: str, at: int, hidden: str) -> None:
    from index.text.sentences import split

    passage = PASSAGES[language]
    start, end = split(passage)[at % len(split(passage))]
    sentence = passage[start:end]
    assert strong(hidden.join(sentence), language) == set()


@given(st.text(max_size=80))
def test_any_text_can_be_checked(text: str) -> None:
    for one in check_sentence(text, [Evidence(n=1, source_id="a", title="", text=text)], language="en"):
        assert (one.strength == "strong") == (one.kind in STRONG)


@pytest.mark.parametrize("lead", ["**TL;DR** ", "TL;DR: ", "**En bref**: ", "**요약** ", "摘要：", "**الخلاصة**: "])
def test_what_leads_in_is_layout(lead: str) -> None:
    evidence = (Evidence(n=1, source_id="a", title="Règlement", text="L'inscription coûte 25 euros pour la session."),)
    assert check_sentence(f"{lead}L'inscription coûte 25 euros pour la session [1].", evidence) == ()
    assert withholds(check_sentence(f"{lead}L'inscription coûte 35 euros pour la session [1].", evidence))


def test_introduction_of_the_evidence_supports_a_sentence() -> None:
    item = Evidence(n=1, source_id="a", title="", text="- the keys of 12 rooms", intro="On 4 May every guest gets:")
    assert not check_sentence("On 4 May every guest gets the keys of 12 rooms [1].", [item])
    assert withholds(check_sentence("On 5 May every guest gets the keys of 12 rooms [1].", [item]))


@pytest.mark.parametrize(
    ("code", "strong"), [("x = a[7]\nmust not wait 30", False), ("x = a[7]\nmust not wait 31", True)]
)
def test_code_is_compared_with_evidence_code(code: str, strong: bool) -> None:
    item = Evidence(n=1, source_id="a", title="", text="Run this:\n\nx = a[7]\nmust not wait 30")
    assert withholds(check_sentence(f"Run this [1]:\n\n```\n{code}\n```", [item])) == strong


def test_heading_before_a_colon_denies_nothing() -> None:
    text = "the transfer of the membership to another town if the stay is long;"
    evidence = [
        Evidence(n=1, source_id="gym.md", title="Gym", text=text, section=f"Gym › 2. {heading}")
        for heading in ("Not included", "Included")
    ]
    said = "Not included: the transfer of the membership to another town if the stay is long [1]."
    assert [withholds(check_sentence(said, [one])) for one in evidence] == [False, True]


@pytest.mark.parametrize(
    ("heading", "text", "sentence", "kept"),
    [
        ("Article 16 Exclusions", "Wear, tear and vermin.", "Article 16 excludes wear, tear and vermin [1].", True),
        ("Under 18 not covered", "Wear, tear and vermin.", "Under 18 not covered: Wear, tear and vermin [1].", True),
        ("제16조 제외 대상", "마모와 해충.", "제16조는 마모와 해충을 제외한다 [1].", True),
        ("第16条 不良反应", "儿童会怕光。", "根据第16条，儿童会怕光[1]。", True),
        ("Article 16 Refunds", "Refunds are paid soon.", "Refunds are paid within 16 days [1].", False),
        ("Article 16 Refunds", "Refunds are paid soon.", "By Article 17 refunds are paid soon [1].", False),
    ],
)  # fmt: skip
def test_number_of_its_heading_is_not_invented(heading: str, text: str, sentence: str, kept: bool) -> None:
    evidence = Evidence(n=1, source_id="policy.md", title="Policy", text=text, section=f"Policy › {heading}")
    flagged = [one.words for one in check_sentence(sentence, (evidence,)) if any(map(str.isdigit, one.words))]
    assert (not flagged) == kept


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "volumes can only be used as created volumes."),
        ("es", "solo puede usarse un volumen creado."),
        ("fr", "le volume ne peut que servir de copie."),
        ("zh", "卷只能静态创建。"),
        ("ar", "لا يجوز إلا استعمال القرص."),
    ],
)
def test_a_restriction_is_no_permission(language: str, text: str) -> None:
    assert [force.name for force in forces(normal(text), language)] == ["duty"]


@pytest.mark.parametrize(
    ("question", "sentence", "text", "flagged"),
    [
        (
            "which battery does Walter need",
            "Walter needs batteries of size 312 [1].",
            "Edith needs batteries of size 312.",
            True,
        ),
        (
            "which battery does Walter need",
            "Batteries of size 312 are needed [1].",
            "Edith needs batteries of size 312.",
            False,
        ),
        (
            "which battery does Edith need",
            "Edith needs batteries of size 312 [1].",
            "Edith needs batteries of size 312.",
            False,
        ),
        (
            "WHICH BATTERY DOES WALTER NEED",
            "Walter needs batteries of size 312 [1].",
            "He needs batteries of size 312.",
            False,
        ),
        ("What does E-15 mean?", "E-15 means a paper jam at the rear [1].", "J-11: paper jam at the rear.", True),
        ("Who is Amina Ouazzani?", "Amina Ouazzani plays the violin [1].", "أمينة وزاني تعزف على الكمان.", False),
    ],
)
def test_what_is_said_of_another_than_was_asked_about_is_a_doubt(
    question: str, sentence: str, text: str, flagged: bool
) -> None:
    evidence = [Evidence(n=1, source_id="a.md", title="", text=text)]
    found = check_sentence(sentence, evidence, question=question)
    assert any(flag.why == "the cited text does not name it" for flag in found) is flagged


@pytest.mark.parametrize(
    ("sentence", "foreign"),
    [
        ("The deposit for the clarinet of a pupil is kept in the office [1].", False),
        ("The deposit for the clarinet of a pupil is paid back [1].", True),
    ],
)
def test_the_words_of_the_question_are_not_foreign_beside_an_answer(sentence: str, foreign: bool) -> None:
    evidence = [Evidence(n=1, source_id="a.md", title="", text="They keep it in the office until the summer.")]
    question = "Where is the deposit for the clarinet of a pupil kept, and is it paid back?"
    assert "unsupported" in {flag.kind for flag in check_sentence(sentence, evidence)}
    found = check_sentence(sentence, evidence, question=question)
    assert ("unsupported" in {flag.kind for flag in found}) is foreign


@pytest.mark.parametrize(
    ("quoted", "kind"),
    [
        ("The tuning of the piano is included in the rent twice a year.", "unverified"),
        ("La afinación del piano no está incluida en el alquiler.", "fabricated_quote"),
        ("La afinación del piano está incluida en el alquiler dos veces al año.", ""),
    ],
)
def test_a_translated_quotation_is_a_doubt(quoted: str, kind: str) -> None:
    text = "Sí: la afinación del piano está incluida en el alquiler dos veces al año, en octubre y en marzo."
    found = check_sentence(f'> "{quoted}" [1]', [Evidence(n=1, source_id="a.md", title="", text=text)])
    assert [flag.kind for flag in found if "quoted" in flag.why] == ([kind] if kind else [])


_LOAN = (
    "- 내가 넣은 대여금은 30,000유로, 이자는 연 2%. "
    "돌려받으려면 6개월 전에 서면으로 알려야 하고, 한 해에 최대 10,000유로까지만 받을 수 있다."
)
_BURN = "Refroidir 15 minutes. Ne pas mettre de glace, de beurre ni de dentifrice. Ne pas percer les cloques."


@pytest.mark.parametrize(
    ("text", "sentence", "withheld"),
    [
        # 30,000 at 10,000 a year
        (_LOAN, "따라서 전액을 돌려받으려면 적어도 3년이 걸립니다 [1].", False),
        (_LOAN, "따라서 전액을 돌려받으려면 적어도 9년이 걸립니다 [1].", True),
        (
            "2015年,上海常住人口规模为2415万人。到2035年控制在2500万人左右。",
            "这个目标比2015年的人口多大约85万[1]。",
            False,
        ),
        (
            "2015年,上海常住人口规模为2415万人。到2035年控制在2500万人左右。",
            "这个目标比2015年的人口多大约95万[1]。",
            True,
        ),
        (_BURN, "La trousse contient des pansements, du désinfectant et des ciseaux [1].", True),
        (_BURN, "Ne donnez pas d'aspirine aux enfants [1].", True),
    ],
)
def test_a_computed_number_makes_no_paraphrase_foreign(text: str, sentence: str, withheld: bool) -> None:
    assert withholds(check_sentence(sentence, [Evidence(n=1, source_id="a", title="", text=text)])) is withheld
