"""How the five languages ask for a kind of thing, and what such a thing looks like in a sentence. One line a language."""

import re
from typing import Final, Literal

Kind = Literal["person", "time", "count", "place", "reason", "manner", "definition", "other"]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


#: First match wins: the more telling kind stands first.
ASKED: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    (
        "reason",
        _any(
            r"\bwhy\b|\bwhat (?:is|was|were|are) the (?:reason|cause)s?\b",
            r"\bpourquoi\b|pour quelles? raisons?",
            r"为什么|为何|为啥|什么原因|原因是什么",
            r"(?:^|\s)왜(?=\s|$)|이유|까닭",
            r"لماذا|لما |ما (?:هو )?(?:سبب|السبب)|ما هي أسباب",
        ),
    ),
    (
        "count",
        _any(
            r"\bhow (?:many|much|old|long|far|tall|large|big|high|fast|deep|wide|heavy)\b",
            r"\bwhat (?:is|was|were|are) the (?:\w+ )?"
            r"(?:number|percentage|percent|population|amount|cost|price|rate|size|total|average)\b",
            r"\bwhat (?:percentage|percent|number|amount|proportion|fraction)\b",
            r"\bcombien\b|quel(?:le)? (?:est le )?(?:nombre|montant|pourcentage|prix|taux|âge|part)",
            r"多少|几(?!乎|何)|多(?:大|长|高|远|久|重|快)|百分之|何等比例",
            r"얼마|며칠|몇",
            r"كم\b|ما (?:هو |هي )?(?:عدد|نسبة|النسبة|مقدار|مبلغ|متوسط|معدل)",
        ),
    ),
    (
        "time",
        _any(
            r"\bwhen\b|\b(?:what|which|in what|in which) (?:\w+ )?"
            r"(?:year|date|day|month|century|decade|time|era)s?\b",
            r"\bquand\b|quel(?:le)?s? (?:\w+ )?(?:année|date|jour|mois|siècle|heure|époque|délai)",
            r"什么时候|何时|哪(?:一)?(?:年|天|月|日|个月|个世纪)|几(?:年|月|号)|什么(?:时间|日期|年份)",
            r"언제|몇\s?(?:년|월|일|시)|어느\s?(?:해|날|시기|시대)",
            r"متى|في أي (?:عام|سنة|تاريخ|يوم|شهر|قرن|وقت|عقد)|أي (?:عام|سنة|تاريخ|يوم|شهر|قرن)|ما (?:هو )?تاريخ",
        ),
    ),
    (
        "person",
        _any(
            r"\bwho(?:m|se)?\b|(?:what|which) (?:\w+ )?"
            r"(?:person|man|woman|king|queen|president|author|actor|scientist|player|leader|team)\b",
            r"\bqui (?!est-ce qui)|\bqui\?|quel(?:le)?s? (?:est le nom|personne)",
            r"谁|哪(?:位|个人|些人|支)|何人",
            r"누구|누가|누굴|사람은|인물은|이름은",
            r"من (?:هو|هي|هم|الذي|التي|كان|كانت|قام|فاز|اخترع|كتب)|^من\b|مَن",
        ),
    ),
    (
        "place",
        _any(
            r"\bwhere\b|\b(?:what|which|in what|in which) (?:\w+ )?(?:country|city|state|place|location|region|town"
            r"|continent|area|county|river|street|building|stadium|university|school)\b",
            r"\boù\b|quel(?:le)?s? (?:\w+ )?(?:pays|ville|lieu|région|endroit|commune)",
            r"哪(?:里|儿|座|国|个国家|个城市|个地方|个州|些国家|些地方)|什么地方|何处|在哪",
            r"어디|어느\s?(?:나라|도시|곳|지역)|장소는|곳은|지역은",
            r"أين|في أي (?:دولة|مدينة|مكان|بلد|منطقة|ولاية|قارة)|أي (?:دولة|مدينة|مكان|بلد|منطقة|ولاية)",
        ),
    ),
    (
        "definition",
        _any(
            r"^what (?:is|are) (?:an? |the )?[\w -]{2,40}\?*$|\bwhat does [\w ]+ mean\b|\bdefine\b",
            r"qu'est[- ]ce qu(?:e|')|c'est quoi|définition",
            r"是什么[?？]?$|什么是",
            r"무엇인가|뭐야|뜻|의미",
            r"ما (?:هو|هي|معنى|المقصود)",
        ),
    ),
    ("manner", _any(r"\bhow\b", r"\bcomment\b", r"如何|怎么|怎样", r"어떻게", r"كيف")),
)

COUNT: Final = _any(
    r"\d",
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|fifty|hundreds?"
    r"|thousands?|millions?|billions?|half|third|quarter|twice)\b",
    r"\b(?:deux|trois|quatre|cinq|sept|huit|neuf|dix|vingt|trente|cent|mille|moitié|tiers)\b",
    r"[一二三四五六七八九十百千万亿两]+(?=[个名次年月日天人种位家座条项分倍岁小周章层场支所块点元米本])|半数|一半",
    r"(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|수십|수백|수천)\s?(?:개|명|번|살|마리|가지|달|시간|차례|권|곳|배)",
    r"واحد|اثنا|اثني|ثلاث|أربع|خمس|ست[ةه]|سبع|ثماني|تسع|عشر|مائ[ةه]|مئ[ةه]|ألف|آلاف|مليون|مليار|نصف|ثلث|ربع",
)
TIME: Final = _any(
    r"\b1\d{3}\b|\b20\d{2}\b|\d{1,2}\s?(?:st|nd|rd|th)\b|\d+(?:\s*[年月日号点世])|\d+\s?(?:년|월|일|시|세기)",
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|century|centuries|decade"
    r"|morning|noon|evening|midnight|spring|summer|autumn|winter|today|annually|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    r"\b(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|siècle|jours?|mois"
    r"|semaines?|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b",
    r"世纪|年代|[一二三四五六七八九十○〇零]{2,4}年|[零〇一二三四五六七八九]{4}|星期[一二三四五六日天]|周[一二三四五六日末]",
    r"세기|시대|초기|말기|[월화수목금토일]요일|주말",
    r"يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|القرن|عام \d|سنة|[٠-٩]{4}",
    r"(?:يوم )?(?:الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد)",
)
REASON: Final = _any(
    r"\b(?:because|since|due to|owing to|as a result|reason|caused?|therefore|so that|in order to|thus|led to)\b|\bto \w+",
    r"\b(?:parce|car|afin|raison|cause|grâce|puisque)\b",
    r"因为|由于|因此|所以|原因|以便|为了|导致",
    r"때문|위해|위하여|이유|따라|으로 인|으로써|여서|어서|아서|므로",
    r"بسبب|لأن|نتيجة|من أجل|لذلك|نظرا|حيث|لكي|بهدف",
)
MANNER: Final = _any(
    r"\b(?:by|through|using|via|with)\b",
    r"\b(?:en \w+ant|par)\b",
    r"通过|以|用",
    r"방법|통해|으로|하여",
    r"من خلال|عن طريق|باستخدام|بواسطة|عبر",
)
DEFINES: Final = _any(
    r"\b(?:is|are|was|were|means?|refers to|known as|called|defined as)\b",
    r"\b(?:est|sont|désigne|signifie|consiste)\b",
    r"是|指|称为|叫做",
    r"이다|란 |를 말한다|뜻한다|라고 (?:한다|부른다)",
    r"هو|هي|يعني|تعني|يسمى",
)

# Capitals tell, so these two are not case-blind.
PLACE: Final = re.compile(
    r"\b(?:in|at|near|from|to|of|dans|à|en|au|aux) (?:the |la |le |l')?[A-ZÀ-Ý]"
    r"|[市省州国区县岛河山湾湖城镇村洲院馆街路港]"
    r"|(?:에서|에|으로|시|도|구|군|동|섬|강|역|성|지역|나라|국가)(?=\s|$|[.,])"
    r"|(?:في|إلى|من|شمال|جنوب|شرق|غرب|مدينة|جزيرة|ولاية|مقاطعة) "
)
NAME: Final = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-Ý][\w'’.-]+(?:\s+(?:of|de|van|von|the|bin|al)?\s*[A-ZÀ-Ý][\w'’.-]*)*"
    r"|[\u4e00-\u9fff]+·[\u4e00-\u9fff]+|[\uac00-\ud7a3]{2,}(?:이|가|은|는|의|에게|와|과)(?=\s)"
    r"|[\u0620-\u06ff]{3,} [\u0620-\u06ff]{3,}"
)
NAME_LATIN: Final = re.compile(NAME.pattern.split(r"|[\u4e00", maxsplit=1)[0])
