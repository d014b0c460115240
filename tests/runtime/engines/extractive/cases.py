"""Small passages and questions of the tests' own, in every language, and prompts made from them."""

from prompts.contracts import Chunk, Evidence

PASSAGES = {
    "en": (
        "The Harbour Library was opened in 1964 by Mayor Ellen Brandt. It stands on Quay Street in Norwick. "
        "Readers may borrow up to eight books for three weeks. The roof was renewed because storms had damaged it.",
        "The museum shop sells postcards. It is closed on Mondays. Groups of twelve or more pay a reduced fee.",
    ),
    "ko": (
        "항구 도서관은 1964년에 시장 김영수가 문을 열었다. "
        "도서관은 부산 중앙로에 있다. 회원은 책을 여덟 권까지 3주 동안 빌릴 수 있다. "
        "지붕은 태풍으로 부서졌기 때문에 새로 고쳤다.",
        "박물관 매점에서는 엽서를 판다. 월요일에는 문을 닫는다. 12명 이상의 단체는 할인을 받는다.",
    ),
    "zh": (
        "海港图书馆于1964年由市长李文华揭幕。图书馆位于宁波市中山路。读者最多可借八本书，借期三周。由于台风损坏，屋顶后来重新修缮。",
        "博物馆商店出售明信片。星期一闭馆。十二人以上的团体可享受优惠。",
    ),
    "es": (
        "La biblioteca del puerto fue inaugurada en 1964 por la alcaldesa Elena Ríos. Está en la calle Mayor de Gijón. "
        "Los lectores pueden pedir ocho libros durante tres semanas. El tejado se renovó porque las tormentas lo habían dañado.",
        "La tienda del museo vende postales. Cierra los lunes. Los grupos de doce personas pagan menos.",
    ),
    "fr": (
        "La bibliothèque du port a été ouverte en 1964 par le maire Henri Lambert. Elle se trouve quai Voltaire à Nantes. "
        "Les lecteurs peuvent emprunter huit livres pendant trois semaines. Le toit a été refait car la tempête l'avait abîmé.",
        "La boutique du musée vend des cartes postales. Elle est fermée le lundi. Les groupes de douze personnes paient moins.",
    ),
    "ar": (
        "افتتح العمدة سامي حداد مكتبة الميناء عام 1964. تقع المكتبة في شارع البحر بمدينة صور. "
        "يمكن للقراء استعارة ثمانية كتب لمدة ثلاثة أسابيع. جدد السقف لأن العاصفة ألحقت به أضرارا.",
        "يبيع متجر المتحف بطاقات بريدية. يغلق المتجر يوم الاثنين. تدفع المجموعات رسوما مخفضة.",
    ),
}

#: language, question, words of the sentence that answers it
ANSWERED = [
    ("en", "Who opened the Harbour Library?", "Ellen Brandt"),
    ("en", "When was the Harbour Library opened?", "1964"),
    ("en", "How many books may readers borrow?", "eight books"),
    ("en", "Why was the roof of the library renewed?", "storms"),
    ("en", "Where does the library stand?", "Quay Street"),
    ("en", "On which day is the museum shop closed?", "Mondays"),
    ("ko", "항구 도서관은 누가 문을 열었습니까?", "김영수"),
    ("ko", "회원은 책을 몇 권까지 빌릴 수 있나요?", "여덟 권"),
    ("ko", "지붕을 새로 고친 이유는 무엇인가요?", "태풍"),
    ("ko", "박물관 매점은 언제 문을 닫나요?", "월요일"),
    ("zh", "海港图书馆是由谁揭幕的？", "李文华"),
    ("zh", "读者最多可以借多少本书？", "八本书"),
    ("zh", "图书馆位于哪里？", "宁波市"),
    ("zh", "屋顶为什么重新修缮？", "台风"),
    ("es", "¿Quién inauguró la biblioteca del puerto?", "Elena Ríos"),
    ("es", "¿Cuántos libros pueden pedir los lectores?", "ocho libros"),
    ("es", "¿Cuándo cierra la tienda del museo?", "lunes"),
    ("es", "¿Por qué se renovó el tejado?", "tormentas"),
    ("fr", "Qui a ouvert la bibliothèque du port ?", "Henri Lambert"),
    ("fr", "Combien de livres les lecteurs peuvent-ils emprunter ?", "huit livres"),
    ("fr", "Quand la boutique du musée est-elle fermée ?", "lundi"),
    ("fr", "Pourquoi le toit a-t-il été refait ?", "tempête"),
    ("ar", "من افتتح مكتبة الميناء؟", "سامي حداد"),
    ("ar", "كم كتابا يمكن للقراء استعارته؟", "ثمانية كتب"),
    ("ar", "أين تقع مكتبة الميناء؟", "شارع البحر"),
    ("ar", "لماذا جدد السقف؟", "العاصفة"),
]

#: Those whose answering sentence does not speak of its subject as "it" alone.
SUBJECT_NAMED = [row for row in ANSWERED if row[2] != "Quay Street"]

#: language, question that the passages do not answer
UNANSWERED = [
    ("en", "What is the boiling point of mercury?"),
    ("en", "Who painted the ceiling of the Sistine Chapel?"),
    ("ko", "수은의 끓는점은 몇 도입니까?"),
    ("zh", "汞的沸点是多少度？"),
    ("es", "¿Cuál es el punto de ebullición del mercurio?"),
    ("fr", "Quel est le point d'ébullition du mercure ?"),
    ("ar", "كم تبلغ درجة غليان الزئبق؟"),
]


def chunks(language: str) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(source_file=f"{language}-{k}", score=1 / (60 + k), content=text)
        for k, text in enumerate(PASSAGES[language], 1)
    )


def evidence(*texts: str) -> tuple[Evidence, ...]:
    return tuple(Evidence(n=n, source_id=f"s{n}", title=f"T{n}", text=text) for n, text in enumerate(texts, 1))
