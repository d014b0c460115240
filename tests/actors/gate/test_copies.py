"""Copied sentences and quotations, in every language: which changed word makes another claim."""

import pytest

from actors.gate.check import check_sentence, withholds
from actors.gate.quotes import fabricated_quotes, quotations
from prompts.contracts import Evidence

SOURCE = {
    "en": "Most members of the council met Doctor Alvarez before the election because the king was ill. Orta lies in Piedmont.",
    "fr": "La plupart des membres ont rencontré Madame Alvarez avant la réunion parce que le roi était malade à Turin.",
    "es": "La mayoría de los miembros vio a la doctora Alvarez antes de la reunión porque el rey estaba enfermo en Turín.",
    "ko": "대부분의 위원은 선거 이전에 알바레스를 만났는데, 국왕이 아팠기 때문에 회의는 서울에서 열렸다.",
    "zh": "大多数委员在选举之前会见了阿尔瓦雷斯，因为国王在都灵生病，会议推迟了三天。",
    "ar": "التقى معظم اعضاء المجلس بالطبيب الفاريس قبل الانتخابات بسبب مرض الملك في مدينة تورينو القديمة.",
}


def held(sentence: str, text: str) -> bool:
    flags = check_sentence(sentence, [Evidence(n=1, source_id="a", title="", text=text)])
    assert all(one.kind == "reversed_term" for one in flags if one.strength == "strong")
    return withholds(flags)


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("en", "Alvarez", "Moretti"),
        ("en", "before", "after"),
        ("en", "because", "although"),
        ("en", "Most members", "All members"),
        ("en", "the king", "the general"),
        ("en", "council met", "council only met"),
        ("en", "was ill", "was not ill"),
        ("fr", "Alvarez", "Moretti"),
        ("fr", "avant", "après"),
        ("fr", "parce que", "bien que"),
        ("fr", "La plupart des membres", "Tous les membres"),
        ("fr", "le roi", "le général"),
        ("es", "Alvarez", "Moretti"),
        ("es", "antes de", "después de"),
        ("es", "porque", "aunque"),
        ("es", "La mayoría de los miembros", "Algunos de los miembros"),
        ("es", "el rey", "el general"),
        ("ko", "알바레스를", "모레티를"),
        ("ko", "이전에", "이후에"),
        ("ko", "때문에", "불구하고"),
        ("ko", "대부분의", "모든"),
        ("ko", "국왕이", "장군이"),
        ("zh", "阿尔瓦雷斯", "莫雷蒂"),
        ("zh", "之前", "之后"),
        ("zh", "因为", "尽管"),
        ("zh", "大多数", "所有"),
        ("zh", "国王", "将军"),
        ("ar", "الفاريس", "موريتي"),
        ("ar", "قبل", "بعد"),
        ("ar", "بسبب", "رغم"),
        ("ar", "معظم", "جميع"),
        ("ar", "الملك", "الجنرال"),
    ],
)
def test_one_word_makes_another_claim(language: str, old: str, new: str) -> None:
    text = SOURCE[language]
    assert old in text
    assert held(text.replace(old, new, 1).split(". ")[0].rstrip(".。") + " [1].", text)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Most members of the council met Doctor Alvarez before the election [1]."),
        (
            "en",
            "Most of the members of the council met Doctor Alvarez prior to the election because the king was ill [1].",
        ),
        ("en", "Most members of the council saw Doctor Alvarez before the election because the king was sick [1]."),
        ("en", "Before the election, most members of the council met Doctor Alvarez because the king was ill [1]."),
        # Two other changes: this one tells the same in other words.
        ("en", "Most council members saw Doctor Alvarez before the election only because the old king was ill [1]."),
        ("en", "No, most members of the council met Doctor Alvarez before the election because the king was ill [1]."),
        ("en", "Instead, most members of the council met Doctor Alvarez before the election [1]."),
        ("fr", "Non, la plupart des membres ont rencontré Madame Alvarez avant la réunion [1]."),
        ("es", "No, la mayoría de los miembros vio a la doctora Alvarez antes de la reunión [1]."),
        (
            "ko",
            "아니요, 대부분의 위원은 선거 이전에 알바레스를 만났는데, 국왕이 아팠기 때문에 회의는 서울에서 열렸다 [1].",
        ),
        ("zh", "不，大多数委员在选举之前会见了阿尔瓦雷斯 [1]。"),
        ("ar", "لا، التقى معظم اعضاء المجلس بالطبيب الفاريس قبل الانتخابات [1]."),
        ("fr", "La plupart des membres ont rencontré Madame Alvarez avant la réunion [1]."),
        ("fr", "La plupart des membres ont vu Madame Alvarez avant la réunion car le roi était souffrant à Turin [1]."),
        ("es", "La mayoría de los miembros vio a la doctora Alvarez antes de la reunión [1]."),
        (
            "es",
            "La mayoría de los miembros visitó a la doctora Alvarez antes de la reunión ya que el rey estaba enfermo en Turín [1].",
        ),
        ("ko", "대부분의 위원은 선거 이전에 알바레스를 만났다 [1]."),
        ("ko", "대부분의 위원은 선거 이전에 알바레스를 만났으며, 국왕이 아팠기 때문에 회의는 서울에서 열렸습니다 [1]."),
        ("zh", "大多数委员在选举之前会见了阿尔瓦雷斯 [1]。"),
        ("zh", "大多数委员在选举之前会见了阿尔瓦雷斯，由于国王在都灵生病，会议推迟了三天 [1]。"),
        ("ar", "التقى معظم اعضاء المجلس بالطبيب الفاريس قبل الانتخابات [1]."),
    ],
)
def test_the_same_in_other_words_passes(language: str, sentence: str) -> None:
    assert not held(sentence, SOURCE[language])


@pytest.mark.parametrize(
    ("text", "sentence", "lie"),
    [
        # A name may replace a description of it, if the evidence has the name.
        ("Orta Ltd makes boats. The company was founded in Turin by three brothers.",
         "Orta Ltd was founded in Turin by three brothers.", False),
        ("The company was founded in Turin by three brothers.", "The firm was founded in Turin by three brothers.", False),
        ("The company was founded in Turin by three brothers.", "The company was founded in Milan by three brothers.", True),
        # Actor and object of an action; an enumeration may be reordered.
        ("In the final of that year Rossi defeated Moretti in four sets.",
         "In the final of that year Moretti defeated Rossi in four sets.", True),
        ("The final of that year was won by Rossi and Moretti in four sets.",
         "The final of that year was won by Moretti and Rossi in four sets.", False),
        # A hedge may be added and not left out, a reservation neither.
        ("The repair of the old bridge took the whole summer.", "The repair of the old bridge took about the whole summer.",
         False),
        ("The repair of the old bridge took almost the whole summer.", "The repair of the old bridge took the whole summer.",
         True),
        ("Residents may use the pool in the morning.", "Only residents may use the pool in the morning.", True),
        # Units, also behind signs.
        ("The pool loses 5% of its water in a week.", "The pool loses 5 points of its water in a week.", True),
        ("The pool loses 5% of its water in a week.", "The pool loses 5 percent of its water in a week.", False),
        # A negator that leaves with its clause denies nothing.
        ("The pool, which is not heated in winter, is open to all residents of the town.",
         "The pool is open to all residents of the town.", False),
        # A polite form of the same verb.
        ("사라진 적립금은 복구할 수 없으므로 기간 안에 쓰는 것이 좋습니다.",
         "사라진 적립금은 복구할 수 없으므로 기간 안에 쓰시는 것이 좋습니다.", False),
        ("사라진 적립금은 복구할 수 없으므로 기간 안에 쓰는 것이 좋습니다.",
         "사라진 적립금은 복구할 수 없으므로 기간 안에 옮기는 것이 좋습니다.", True),
        # Of two similar sentences, the copied one counts.
        ("Rossi was born in the old town of Turin. Moretti was born in the old town of Milan.",
         "Moretti was born in the old town.", False),
    ],
)  # fmt: skip
def test_what_changes_in_a_copy(text: str, sentence: str, lie: bool) -> None:
    assert held(f"{sentence.rstrip('.')} [1].", text) == lie


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("患者在手术前应当禁食。", "患者在手术后应当禁食[1]。"),
        ("申请应在离职前提交。", "申请应在离职后提交[1]。"),
        ("付款后三天内发货。", "付款前三天内发货[1]。"),
        ("약을 먹기 전에 혈압을 잰다.", "약을 먹은 후에 혈압을 잰다 [1]."),
        ("회의가 시작되기 전 자료를 나눠 준다.", "회의가 시작된 뒤 자료를 나눠 준다 [1]."),
        ("드라이버를 설치한 다음 장치를 연결한다.", "드라이버를 설치하기 전 장치를 연결한다 [1]."),
        ("결제 후 3일 이내에 발송한다.", "결제 전 3일 이내에 발송한다 [1]."),
        ("Il faut payer avant la livraison.", "Il faut payer après la livraison [1]."),
        ("Hay que pagar antes de la entrega.", "Hay que pagar tras la entrega [1]."),
        ("يجب الدفع قبل التسليم.", "يجب الدفع بعد التسليم [1]."),
        ("He left Paris before the war.", "He left Paris after the war [1]."),
    ],
)
def test_what_comes_first(text: str, sentence: str) -> None:
    assert held(sentence, text)


def test_equal_sentence_wins_over_a_longer_one() -> None:
    text = (
        "The old mill by the river belongs to the town of Orta. The new mill by the river belongs to the monks of Orta."
    )
    assert not held("The new mill by the river belongs to the monks [1].", text)
    assert held("The new mill by the river belongs to the nuns of Orta [1].", text)


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        ('He said "yes" and "no".', ["yes", "no"]),
        ("She said “it is over”.", ["it is over"]),
        ("그는 ‘부당하다’라고 했다.", ["부당하다"]),
        ("그는 「법」과 『책』을 썼다.", ["법", "책"]),
        ("他说“好”。", ["好"]),
        ("Il dit : « c’est l’État ».", [" c’est l’État "]),
        ("قال «نعم».", ["نعم"]),
        ("``Roar'' is a song.", ["Roar"]),
        ("and it goes on” he said.", ["and it goes on"]),
        ("He began: “and then", ["and then"]),
        ("It’s the boss’ desk, don’t.", []),
        ('A 5" pipe.', []),
        ("“[1]”", []),
    ],
)
def test_quotations(sentence: str, quoted: list[str]) -> None:
    assert quotations(sentence) == quoted


@pytest.mark.parametrize(
    ("sentence", "text", "wrong"),
    [
        ("She said “It is OVER!”", "she said it is over.", False),
        ("She said “it … over”.", "it is nearly over", False),
        ("She said “over … it”.", "it is nearly over", True),
        ("She said “it is\u200b over”.", "it is\nover", False),
        ("She said “it is done”.", "it is over", True),
        ("그는 “부당 하다”고 했다.", "“부당하다”는 말", False),
        ("他说“不好”。", "他说“好”。", True),
    ],
)
def test_fabricated(sentence: str, text: str, wrong: bool) -> None:
    assert bool(list(fabricated_quotes(sentence, ["nothing", text]))) is wrong


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Claims are paid within 14 days.", "Claims are paid within 14 working days"),
        ("Les frais sont payés sous 14 jours.", "Les frais sont payés sous 14 jours ouvrés"),
        ("Los gastos se pagan en 14 días.", "Los gastos se pagan en 14 días hábiles"),
        (
            "Claims of the staff are paid within 14 days of a visit.",
            "Claims of the staff are paid only to members within 14 days of a visit",
        ),
        ("Claims are paid within 14 days.", "It is a myth that claims are paid within 14 days"),
        ("Les frais sont payés sous 14 jours.", "C'est un mythe que les frais sont payés sous 14 jours"),
        ("Los gastos se pagan en 14 días.", "Es falso que los gastos se pagan en 14 días"),
        ("تُدفع المبالغ خلال 14 يوما.", "من الخطأ أن المبالغ تُدفع خلال 14 يوما"),
        ("환불은 14일 이내에 지급됩니다.", "환불은 회원에게만 14일 이내에 지급됩니다"),
        ("退款在14天内支付。", "退款以前在14天内支付"),
    ],
)
def test_what_limits_or_denies_a_copied_claim(text: str, sentence: str) -> None:
    assert held(f"{sentence} [1].", text)
    assert not held(f"{text[:-1]} [1].", text)


DENIED = {
    "en": (
        "Dogs are not allowed in the dining room and not in the pool.",
        ("Dogs are not allowed in the dining room or the pool", "Dogs are not allowed in the pool"),
        ("Dogs are allowed in the dining room and not in the pool", "Dogs are allowed in the dining room or the pool"),
    ),
    "fr": (
        "Les chiens ne sont pas admis dans la salle à manger et pas dans la piscine.",
        ("Les chiens ne sont pas admis dans la salle à manger ou la piscine",),
        ("Les chiens sont admis dans la salle à manger ou la piscine",),
    ),
    "es": (
        "Los perros no están permitidos en el comedor y no en la piscina.",
        ("Los perros no están permitidos en el comedor o la piscina",),
        ("Los perros están permitidos en el comedor o en la piscina",),
    ),
    "ko": (
        "개는 식당에 들어갈 수 없고 수영장에도 들어갈 수 없습니다.",
        ("개는 식당이나 수영장에 들어갈 수 없습니다",),
        ("개는 식당이나 수영장에 들어갈 수 있습니다",),
    ),
    "zh": (
        "狗不能进入餐厅，也不能进入泳池。",
        ("狗不能进入餐厅或泳池",),
        ("狗能进入餐厅和泳池", "狗不能进入餐厅，但可以进入泳池"),
    ),
    "ar": (
        "لا يسمح بدخول الكلاب إلى المطعم ولا يسمح بدخولها إلى المسبح.",
        ("لا يسمح بدخول الكلاب إلى المطعم أو المسبح",),
        ("يسمح بدخول الكلاب إلى المطعم أو المسبح",),
    ),
}
EXCEPTED = {
    "en": (
        "Guests may use the summer kitchen, but not the bakery and not the indoor kitchen.",
        ("Guests may not use the bakery or the indoor kitchen", "Guests cannot use the bakery"),
        (
            "Guests may use the bakery",
            "Guests may not use the summer kitchen",
            "Guests may not use the summer kitchen or the bakery",
        ),
    ),
    "fr": (
        "Les clients peuvent utiliser la cuisine d'été, mais pas la boulangerie.",
        ("Les clients ne peuvent pas utiliser la boulangerie",),
        ("Les clients peuvent utiliser la boulangerie", "Les clients ne peuvent pas utiliser la cuisine d'été"),
    ),
    "es": (
        "Los huéspedes pueden usar la cocina de verano, pero no la panadería.",
        ("Los huéspedes no pueden usar la panadería",),
        ("Los huéspedes pueden usar la panadería", "Los huéspedes no pueden usar la cocina de verano"),
    ),
    "ko": (
        "손님은 여름 주방을 쓸 수 있지만 제과실은 안 됩니다.",
        ("손님은 제과실을 쓸 수 없습니다",),
        ("손님은 여름 주방을 쓸 수 없습니다",),
    ),
    "zh": ("客人可以使用夏季厨房，但面包房不行。", ("客人不可以使用面包房",), ("客人不可以使用夏季厨房",)),
    "ar": (
        "يمكن للضيوف استخدام المطبخ الصيفي ولكن ليس المخبز.",
        ("لا يمكن للضيوف استخدام المخبز",),
        ("يمكن للضيوف استخدام المخبز", "لا يمكن للضيوف استخدام المطبخ الصيفي"),
    ),
    "zh only": (
        "天然石材不能用除垢剂,也不能用白醋,只能用中性皂。",
        ("石材只能用中性皂清洁", "天然石材不能用白醋"),
        ("天然石材只能用白醋", "天然石材不能用中性皂"),
    ),
}
ROWS = {
    "en": (
        "Room: Garden | Pets: not allowed | Smoking: allowed on the terrace",
        "Smoking is allowed on the terrace",
        "Smoking is not allowed on the terrace",
    ),
    "fr": (
        "Animal: Chien | Chambre: non admis | Jardin: admis en laisse",
        "Le chien est admis en laisse dans le jardin",
        "Le chien n'est pas admis en laisse dans le jardin",
    ),
    "es": (
        "Habitación: Jardín | Mascotas: no permitidas | Fumar: permitido en la terraza",
        "Fumar está permitido en la terraza",
        "Fumar no está permitido en la terraza",
    ),
    "ko": (
        "객실: 정원 | 반려동물: 허용되지 않음 | 흡연: 테라스에서 허용",
        "흡연은 테라스에서 허용됩니다",
        "흡연은 테라스에서 허용되지 않습니다",
    ),
    "zh": ("房间: 花园 | 宠物: 不允许 | 吸烟: 露台上允许", "露台上允许吸烟", "露台上不允许吸烟"),
    "ar": (
        "الغرفة: الحديقة | الحيوانات: غير مسموح بها | التدخين: مسموح به في الشرفة",
        "التدخين مسموح به في الشرفة",
        "التدخين غير مسموح به في الشرفة",
    ),
}


@pytest.mark.parametrize(
    "row", [*DENIED.values(), *EXCEPTED.values(), *((text, (one,), (lie,)) for text, one, lie in ROWS.values())]
)
def test_what_a_list_or_a_row_denies_is_denied(row: tuple[str, tuple[str, ...], tuple[str, ...]]) -> None:
    text, said, lies = row
    assert {one: held(f"{one} [1].", text) for one in (*said, *lies)} == dict.fromkeys(said, False) | dict.fromkeys(
        lies, True
    )
