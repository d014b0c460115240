"""The words of a text that carry its content, cut down to what their forms share.

Crude on purpose: a stem is only ever compared with another made the same way. Chinese, which writes no spaces, gives pairs
of characters. Numbers have a check of their own and are left out.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

_WORD = re.compile(r"[가-힣]+|[\u4e00-\u9fff\u3400-\u4dbf]+|[\u0620-\u064a]+|[a-zà-öø-ÿœ][a-zà-öø-ÿœ0-9]*")


def _listed(text: str) -> list[str]:
    return text.split()


# Words of grammar, and those that say hardly more ("person", "known"): their absence from the evidence proves nothing.
_EMPTY: Final = frozenset(
    _listed(
        """
    a an the of in on at by for to from with and or but as than that this these those it its he she they them his her
    their him we us our you your i me my is was were are be been being am has have had having do does did done will
    would can could may might shall should must there here which who whom whose what when where why how if then so such
    also just only very too more most much many some any all both each other another own same about into over after
    before between through during while because since until up out off down again once not no nor never s t d ll re ve
    rrb lrb lsb rsb called named known name become became made make makes one ones people person thing things et al
    le la les un une des du de et est sont était étaient été être a ont avait au aux en dans par pour avec sur sous qui
    que quoi dont où ce cet cette ces son sa ses leur leurs il elle ils elles on nous vous je tu ne pas plus ou mais si
    se sont c l d n s j m t qu y lui même aussi très ainsi donc car comme entre vers chez sans tout tous toute toutes
    في من علي الي عن ان او ثم هو هي هم ما لا لم لن قد كان كانت كما مع هذا هذه ذلك تلك التي الذي الذين كل بعض
    بعد قبل عند
    그리고 그러나 하지만 그 이 저 것 수 있다 있는 있습니다 하는 한다 합니다 했다 된다 됩니다 되는 및 또는 등 더 약 때
    중 대해 위해 통해 있었다
    """
    )
)
# Tried in this order.
_LATIN_ENDS: Final = tuple(
    _listed(
        """
        ations ation ions ion ors or ives ive ements ement ments ment ingly ings ing edly ers er ies ied ed es ly s
        ées és ée é ant ent ait aient e
        """
    )
)
_HANGUL_PARTICLES = re.compile(
    r"(?:으로부터|에서부터|이라고|에게서|이라는|이었|였|에서는|에서도|으로는|으로도|에게는|까지는|부터는|에서|에게|한테|으로|까지|부터|보다|처럼|마다|"
    r"이나|이란|라는|라고|조차|마저|밖에|들은|들이|들을|들의|들에게|들|은|는|이|가|을|를|의|에|로|와|과|도|만|나|란|께서|께)$"
)
_HANGUL_ENDINGS = re.compile(
    r"(?:하였습니다|했습니다|되었습니다|됐습니다|었습니다|았습니다|였습니다|습니다|합니다|됩니다|입니다|하였다|했다|되었다|됐다|었다|았다|였다|한다|된다|"
    r"하는|되는|하고|되고|하여|해서|하지|되지|하면|하며|하려|하게|되어|해야|하기|했던|했고|했지|했는|하던|이다|이며|이고|인|한|할|함|해|될|된|됨|하다|되다|"
    r"어요|아요|에요|예요|네요|지요|죠|겠다|겠습니다|는다|ㄴ다|다|고|며|면|서|게|지|기|는|은|던|을|요|네|니|자)$"
)
_ARABIC_HEADS: Final = ("وال", "بال", "فال", "كال", "ال", "لل", "و", "ف", "ب", "ل", "س")
_ARABIC_TAILS: Final = ("هما", "ها", "هم", "هن", "ات", "ان", "ين", "ون", "يه", "نا", "ه", "ي", "ا")


class Stem(msgspec.Struct, frozen=True):
    """One content word: where its full form stands, and what it is compared by."""

    start: int
    end: int
    stem: str


@lru_cache(maxsize=4096)
def stems(text: str) -> tuple[Stem, ...]:
    """The content words of a text in normal form, in order."""
    found: list[Stem] = []
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if "\u3400" <= word[0] <= "\u9fff":
            pairs = [word] if len(word) == 1 else [word[at : at + 2] for at in range(len(word) - 1)]
            found.extend(Stem(start + at, start + at + len(pair), pair) for at, pair in enumerate(pairs))
        elif word not in _EMPTY:
            stem = stem_of(word)
            if stem not in _EMPTY and (len(stem) > 1 or stem >= "가"):
                found.append(Stem(start, match.end(), stem))
    return tuple(found)


@lru_cache(maxsize=65536)
def stem_of(word: str) -> str:
    """What the forms of `word` share: one word of one script, in normal form."""
    if word[0] >= "가":
        return _hangul(word)
    if "\u0620" <= word[0] <= "\u064a":
        return _arabic(word)
    return _latin(word)


def _latin(word: str) -> str:
    for end in _LATIN_ENDS:
        if word.endswith(end) and len(word) - len(end) >= 3:
            word = word[: -len(end)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("ie") if len(word.rstrip("ie")) >= 3 else word


def _hangul(word: str) -> str:
    for pattern in (_HANGUL_PARTICLES, _HANGUL_ENDINGS):
        shorter = pattern.sub("", word)
        if len(shorter) >= 2 or (len(shorter) == 1 and len(word) == 2):
            word = shorter
    return word[:3] if len(word) > 3 else word


def _arabic(word: str) -> str:
    for head in _ARABIC_HEADS:
        if word.startswith(head) and len(word) - len(head) >= 3:
            word = word[len(head) :]
            break
    for tail in _ARABIC_TAILS:
        if word.endswith(tail) and len(word) - len(tail) >= 3:
            return word[: -len(tail)]
    return word
