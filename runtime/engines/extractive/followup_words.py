"""Word lists for follow-up questions in five languages: what points back, what names an aspect, what is no topic."""

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Heads that name an aspect of a topic, not a topic: "symptoms of myopia" is about myopia.
ASPECTS: Final = _words(
    """
    climate weather relationship rivals rival source sources idea ideas difference information info history facts
    fact differences type types kind kinds sort sorts example examples symptom symptoms cause causes effect effects
    sign signs treatment treatments benefit benefits risk risks pros cons advantage advantages disadvantage
    disadvantages cost costs price prices origin origins definition meaning role purpose function reason reasons
    impact importance significance feature features characteristics characteristic part parts step steps way ways
    process theme themes character characters finding findings result results rule rules requirement requirements
    condition conditions topic story background overview detail details problem problems issue issues name names
    number amount evidence influence factor factors version versions term author authors option options method
    methods use uses member members place places time deadline fee fees penalty penalties limit limits frais
    horaires horaire symptome symptomes avantages inconvenients prix cout couts delai delais montant but exemple
    exemples raison raisons origine origines histoire regles regle etapes risque risques traitement traitements
    duree modalites liste informations effets
    증상 원인 치료 방법 기간 조건 비용 가격 절차 이유 종류 특징 역할 차이 예시 정의 의미 장점 단점 효과 위험 규칙
    대상 기준 과정
    اعراض اسباب سبب شروط مده انواع نوع مزايا عيوب فوائد تعريف معني تكلفه سعر طريقه خطوات تاريخ دور اهميه علاج موعد
    رسوم حكم
    """
)

#: Verbs, adverbs and general adjectives that break a run of words into noun phrases.
NO_TOPIC: Final = _words(
    """
    know knows get gets getting make makes made making work works worked need needs needed tell say says said use
    used using come comes came go goes going went gone take takes took taken happen happens happened happening live
    lives lived eat eats cost costs compare compares compared differ differs choose chose chosen find finds found
    help helps cause caused think feel mean means meant like want wants learn become becomes became begin began
    start started stop stopped call called keep give gave given show shows showed survive survived lead leads led
    die dies died dying win won look looks play plays played replace fix run runs running pay buy see try tried grow
    grows grew change changed changes affect affects affected treat treated treatable prevent consider considered
    considering exist exists existed born describe explain discuss provide include includes built build believe
    believed contain contains recommend recommended discovered invented created developed formed named please more
    first last best main major important different other various possible ever really similar actually currently
    today now instead still often usually famous able interested thanks thank okay ok oh hi hello let lets
    differentiate spread received weigh weighs wow interesting great nice sure later shift decide decided something
    anything someone people person thing things lot much veux voudrais savoir parler parle parlez parle-moi
    parlez-moi dites-moi dis-moi qu'est-ce est-ce dire dites expliquer expliquez faire faut peut peuvent doit
    doivent obtenir demander existe trouver donner donne plus moins bien aussi encore
    알려 알려줘 알려주세요 설명해 설명해줘 설명해주세요 싶어요 궁금해요 궁금합니다 해주세요 줘 주세요 좀 더 그럼
    그러면
    اخبرني اشرح اريد اعرف ممكن يمكن يمكنني يعمل تعمل يحدث حدث يجب اذكر وضح
    """
)

#: Predicates: said of a topic after its name, never the end of one.
PREDICATES: Final = _words(
    "difficult hard easy expensive cheap safe dangerous dead alive long old big good bad successful effective common famous"
)

#: Words that stand for something said before.
PRONOUNS: Final[dict[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"\b(?P<possessive>its|their|his|her)\b(?= \w)|\b(?:they|them|he|she|him)\b"
        # not "does it cost to", "is it true that"
        r"|\bit\b(?! (?:cost|take|possible|true|safe|necessary|necessarily|matter|mean to|rain))"
        r"|\b(?:one|ones)\b(?= \w*ly\b| (?:do|does|did|is|are|was|were|be|that|for|to|in|with)\b|\W*$)"
        # not the conjunction, nor "this kind": those keep their noun
        r"|\b(?:this|that|these|those)\b(?= (?:is|was|are|were|has|have|had|do|does|did|can|could|will|would|be|\w+ed)\b|\W*$)",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\b(?:il|elle|ils|elles|celui-ci|celle-ci|ceux-ci|celles-ci|cela|ça|ceci|ce dernier|cette dernière|eux|lui)\b"
        r"(?! (?:y a|faut|est possible|existe|suffit))|-t?-?(?:il|elle|ils|elles)\b|\b(?P<possessive>son|sa|ses|leurs?)\b",
        re.IGNORECASE,
    ),
    "ko": re.compile(
        r"(?:^|(?<=\s))(?:그것들?|이것들?|저것|그거|이거|저거|그건|이건|저건|그게|이게|그녀|그들|그분|거기|여기|해당)"
        r"(?=(?:은|는|이|가|을|를|의|에|에서|로|와|과|도|들)?(?:\s|[?？.]|$))"
        r"|(?:^|(?<=\s))(?:그|이|저) (?=[가-힣]+)|(?:^|(?<=\s))그(?=(?:는|가|의|를)(?:\s|$))"
    ),
    "zh": re.compile(
        r"它们|他们|她们|它|他(?!人|国)|她|该|其(?!他|它|实|中|次|余)"
        r"|这(?:个|种|些|样的|位|家|项)?(?!里|次|时)|那(?:个|种|些|样的|位|家|项)?(?!里|么|次|时)"
    ),
    "ar": re.compile(
        r"(?:^|(?<=\s))و?(?:هو|هي|هم|هما|هذا|هذه|ذلك|تلك|هؤلاء|منه|منها|عنه|عنها|فيه|فيها|به|بها|له|لها"
        r"|عليه|عليها|إليه|إليها)(?=\s|[؟?.]|$)"
        r"|(?<=[\u0620-\u064a]{3})(?P<possessive>ه|ها|هم)(?=\s|[؟?.]|$)"
    ),
}

#: A place said before: "the best restaurants there". Not "is there", "are there".
THERE: Final[dict[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bhas been )\b(?:over |from )?there\b"
        r"(?! (?:is|are|was|were|will|would|has|have|any|an?|some)\b)",
        re.IGNORECASE,
    ),
    "fr": re.compile(r"\blà[- ]bas\b", re.IGNORECASE),
    "ko": re.compile(r"(?:^|(?<=\s))(?:거기|그곳|여기)(?:에서|의|에)?(?=\s)"),
    "ar": re.compile(r"(?:هناك|هنالك)(?=\s*[؟?.]*\s*$)"),
}
#: A place with its preposition, as it stands in the questions before.
PLACES: Final[dict[str, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:in|at) (?:the )?[A-Z][\w'-]+(?: [A-Z][\w'-]+)*"),
    "fr": re.compile(r"\b(?:à|en|au|aux|dans)(?: la | les | le | l['’]| )[A-ZÉÎÂÀ][\w'’-]+(?: [A-ZÉÎÂÀ][\w'’-]+)*"),
    "ko": re.compile(r"(?:^|(?<=\s))[가-힣]{2,}(?=에서\s)"),
    "ar": re.compile(r"(?:^|(?<=\s))في [\u0620-\u064a]{3,}"),
}

#: "What about X?": group `about` is X.
ABOUT: Final[dict[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"\b(?:and )?(?:what|how) about(?: for| with| in| of)? (?P<about>[^?.!]{2,80})\?*\s*$", re.IGNORECASE
    ),
    "fr": re.compile(
        r"(?:^|[.!] )(?:et(?: pour| chez| avec| en| dans| à)?|qu'en est-il (?:de|du|des|d'))\s?"
        r"(?P<about>(?!que|quel|comm|pour|où|qui|quand|combien)[^?.!]{2,80}?)\s?\?*\s*$",
        re.IGNORECASE,
    ),
    "ko": re.compile(r"(?:^|그럼 |그러면 |그리고 )(?P<about>[^?？.]{1,40}?)(?:은|는)(?:요)?\s?[?？]*\s*$"),
    "zh": re.compile(r"(?:^|那么?|那)(?P<about>[^?？。，]{1,30}?)呢[?？]*\s*$"),
    "ar": re.compile(r"(?:^|\s)(?:و?ماذا عن|و?ما بشأن|وبالنسبة (?:ل|إلى))\s?(?P<about>[^؟?.]{2,80})[؟?]*\s*$"),
}

#: A question that brings its own topic along.
INTRODUCES: Final[dict[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"\b(?:tell me (?:more )?(?:about|of)|who(?:'s| is| was| were| are) (?!the\b)"
        r"|what(?:'s| is| are| was| were) (?!the\b|its\b|their\b|some\b|other\b)"
        r"|learn about|describe|explain|information (?:on|about)|interested in|what about|how about)",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\b(?:parle[zr]?[- ]moi|qu'est[- ]ce qu|c'est quoi|qui (?:est|était)|expliquez?|présentez?)", re.IGNORECASE
    ),
    "ko": re.compile(r"(?:이란|란 |에 대해|에 대하여|(?:은|는|이|가) (?:무엇|뭐|누구))"),
    "zh": re.compile(r"什么是|是什么|是谁|谁是|介绍|说说|讲讲"),
    "ar": re.compile(r"(?:^|\s)(?:ما هو|ما هي|من هو|من هي|أخبرني عن|حدثني عن|ما المقصود)"),
}
