"""Words that turn a statement round, in five languages: negations, and groups of words of which only one can be true."""

import re
from typing import Final

from runtime.engines.extractive.words import fold

NEGATION: Final = re.compile(
    r"\b(?:not|no|never|cannot|without|except|neither|nor|none|unable|lacks?|lacked|failed?|incapable|besides|instead|other than"
    r"|aucune?s?|jamais|sans|sauf|ni|n[e'’](?=\s?\w+ (?:pas|plus|jamais|rien))|excepté|hormis)\b|n['’]t\b"
    r"|不(?!同|仅|但|过|久|断|少|如|管|论|平等)|没|未(?!来)|并非|无法|无需|除了|以外"
    r"|않|없|아니|못하|못한|제외|외에|말고|(?<![가-힣])안 [가-힣]"
    r"|(?:^|\s)(?:لا|لم|لن|ليس|ليست|غير|بدون|دون|باستثناء|عدا|ما عدا|عدم)(?=\s)",
    re.IGNORECASE,
)

_GROUPS: Final = """
large small|largest smallest|big little|most least|more less fewer|high low|higher lower|highest lowest|first last|before after
early late|earlier later|earliest latest|old new|older newer younger|oldest newest youngest|north south|northern southern
east west|eastern western|northeast northwest southeast southwest|increase decrease reduce|increased decreased reduced
increasing decreasing|rise fall|rose fell|strong weak|stronger weaker|strongest weakest|best worst|good bad|better worse
long short|longer shorter|longest shortest|fast slow|faster slower|begin end|started stopped finished|began ended|open close
win lose|won lost|victory defeat|accept reject|accepted rejected|agree disagree|agreed disagreed|allow forbid prohibit prevent
allowed forbidden prohibited prevented|support oppose|supported opposed|include exclude|included excluded|public private
major minor|maximum minimum|male female|man woman|men women|king queen|father mother|son daughter|brother sister|husband wife
positive negative|internal external|inside outside|above below|top bottom|upper lower|left right|hot cold|warm cool
easy hard difficult|simple complex|common rare uncommon|popular unpopular|rich poor|wealthy poor|heavy light|deep shallow
wide narrow|arrive leave|arrived left|enter exit|success failure|gain loss|gained lost|buy sell|bought sold|import export
imports exports|create destroy|created destroyed|built destroyed demolished|attack defend|offense defense|ancient modern
past future|same different|similar different|always never|many few|odd even|true false|legal illegal|formal informal
domestic foreign|rural urban|permanent temporary|primary secondary|superior inferior|majority minority|minimum maximum
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday|morning evening|day night|summer winter|spring autumn
premier dernier|premiere derniere|plus moins|grand petit|grande petite|avant apres|ancien nouveau|public prive
augmenter diminuer|augmentation diminution|majeur mineur|interdit autorise|obligatoire facultatif|nord sud|est ouest
最大 最小|最多 最少|最高 最低|最早 最晚|最长 最短|最好 最差|第一 最后|增加 减少|上升 下降|之前 之后|以前 以后|允许 禁止
支持 反对|胜利 失败|国内 国外|公共 私人|北部 南部|东部 西部|男性 女性|内部 外部|进口 出口|开始 结束|古代 现代
최대 최소|최고 최저|최초 최후 마지막|처음 마지막|가장 덜|증가 감소|상승 하락|이전 이후|허용 금지|찬성 반대|승리 패배|남성 여성
북쪽 남쪽|동쪽 서쪽|내부 외부|수입 수출|시작 종료|국내 해외|공립 사립|많은 적은|큰 작은|전기 후기
اكبر اصغر|اكثر اقل|اعلي ادني|اول اخر|قبل بعد|زياده انخفاض نقصان|ارتفاع انخفاض|شمال جنوب|شرق غرب|داخل خارج|عام خاص
مسموح ممنوع|فوز خساره|قديم حديث|اطول اقصر|اسرع ابطا|افضل اسوا|بدايه نهايه|ذكر انثي
"""
OPPOSITES: Final[dict[str, frozenset[str]]] = {}
for _group in _GROUPS.replace("\n", "|").split("|"):
    _words = _group.split()
    for _word in _words:
        OPPOSITES[_word] = OPPOSITES.get(_word, frozenset()) | (frozenset(_words) - {_word})

_WORD = re.compile(r"[^\W\d_]+")
_ARTICLE = re.compile(r"^(?:ال|وال|بال|لل)(?=\w{3})")
_SUPERLATIVE = re.compile(
    r"^(?:\w+(?:[^aeiou]est|iest)|most|least|first|last|only|final|premier\w*|dernier\w*|seule?)$"
)


def is_negated(text: str) -> bool:
    return bool(NEGATION.search(text))


def words_of(text: str) -> frozenset[str]:
    """The plain words of `text`, folded; and for Chinese, Korean and Arabic those known to have an opposite."""
    folded = fold(text)
    found = {_ARTICLE.sub("", word) for word in _WORD.findall(folded)}
    if not text.isascii():
        found |= {word for word in _UNSPACED if word in folded}
    return frozenset(found)


def opposed(asked: frozenset[str], said: frozenset[str]) -> int:
    """How many of the `asked` words are not `said` while their opposite is."""
    return sum(1 for word in asked if word in OPPOSITES and word not in said and OPPOSITES[word] & said)


def superlatives(asked: frozenset[str], said: frozenset[str]) -> int:
    """How many superlatives and ordinals of the question are not in the text."""
    return sum(1 for word in asked if word not in said and _SUPERLATIVE.match(word))


_UNSPACED: Final = tuple(word for word in OPPOSITES if word[0] >= "\u3400")
