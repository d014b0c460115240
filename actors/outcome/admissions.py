"""Tell an admission of uncertainty from a claim: "I don't know", "the documents do not say", in five languages.

An admission needs no citation. A sentence that goes on to claim something ("but …"), or that cites, is none.
"""

import re
from collections.abc import Sequence
from typing import Final

from actors.gate.citations import markers
from actors.gate.normal import normal
from bus.messages import Flag, Sentence

LONGEST: Final = 240
#: What the gate may hold against a claim but not against an admission, which denies and cites nothing by its nature.
EXCUSED: Final = frozenset({"uncited", "low_overlap", "reversed_term"})

#: In the gate's normal form, as everything below.
_SOURCES_EN: Final = (
    r"(?:documents?|sources?|evidence|passages?|context|material|texts?|excerpts?|information|files?|course)"
)
_SOURCES_FR: Final = (
    r"(?:documents?|sources?|passages?|contexte|extraits?|textes?|informations?|éléments|cours|fichiers?)"
)
_SOURCES_KO: Final = r"(?:자료|문서|근거|출처|본문|문맥|정보|발췌|내용)"
_SOURCES_ZH: Final = r"(?:资料|文档|文件|来源|证据|上下文|段落|材料|信息)"
_SOURCES_AR: Final = r"(?:المستندات|الوثائق|المصادر|النصوص|النص|السياق|المقاطع|الادله|الماده|الملفات|المعلومات)"
_ADMISSIONS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bi (?:do not|don't|did not|didn't) know\b|\bi(?:'m| am) not (?:sure|certain)\b",
        r"\bi(?:'m| am)? (?:cannot|can't|can not|could not|couldn't|unable to) (?:find|say|tell|answer|determine|confirm|know)\b",
        rf"\b{_SOURCES_EN}(?: \w+){{0,3}} (?:do|does|did)(?: not|n't) "
        r"(?:contain|say|mention|state|provide|give|cover|include|name|speak|specify|answer|tell|support)",
        rf"\b{_SOURCES_EN}(?: \w+){{0,3}} (?:give|name|contain|provide|have|has|gives|names|contains|provides) no\b",
        r"\bno (?:such )?(?:information|answer|mention)\b|\bnot enough information\b",
        rf"\bnot (?:\w+ )?in the (?:\w+ )?{_SOURCES_EN}",
        r"모르겠(?:습니다|어요|다)|모릅니다",
        r"(?:알|찾을|확인할|판단할|답할|답변할|답변드릴|답해 드릴) 수 없(?:습니다|어요|었습니다|다)",
        rf"{_SOURCES_KO}.{{0,40}}(?:없(?:습니다|어요|다)|않(?:습니다|아요|다)|부족(?:합니다|하다))",
        r"(?:^|我|抱歉,)(?:不知道|不清楚|不确定|无法(?:确定|回答|判断|得知|找到))",
        rf"{_SOURCES_ZH}.{{0,12}}(?:没有|未|无法)|(?:没有|未|无法).{{0,12}}{_SOURCES_ZH}",
        r"\bje ne (?:sais|peux|trouve) (?:pas|rien)|\bje ne suis pas (?:sûre?|certaine?)\b|\bje n'ai (?:pas|rien) trouvé",
        r"\b(?:impossible|incapable) de (?:répondre|savoir|trouver|dire)",
        rf"\b{_SOURCES_FR}(?: \w+){{0,3}} n(?:e |')(?:\w+ )?"
        r"(?:contien|di|mentionn|précis|donn|permet|nomm|indiqu|parl|répond|couvr)",
        r"\b(?:aucune?|pas d'|pas assez d')\s?(?:information|réponse|mention)",
        r"لا (?:اعرف|اعلم|ادري|استطيع|يمكنني)|لم اجد|لست متاكد",
        rf"(?:لا|لم) \w+ {_SOURCES_AR}|{_SOURCES_AR}(?: \w+){{0,3}} (?:لا|لم) |لا توجد (?:معلومات|اجابه)",
    )
)
_GOES_ON: Final = re.compile(
    r"\b(?:but|however|although|mais|cependant|toutefois|pourtant)\b"
    r"|하지만|그러나|다만|但|不过|然而|لكن|غير ان|الا ان"
)


def is_admission(sentence: str) -> bool:
    """Whether a sentence says that the answer is not known or not in the sources, and nothing else."""
    if len(sentence) > LONGEST or markers(sentence):
        return False
    text = normal(sentence).strip()
    return any(pattern.search(text) for pattern in _ADMISSIONS) and not _GOES_ON.search(text)


def excused(sentence: str, flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """The flags without those that an admission earns by being one."""
    if not any(flag.kind in EXCUSED for flag in flags) or not is_admission(sentence):
        return flags
    return tuple(flag for flag in flags if flag.kind not in EXCUSED)


def admits(sentences: Sequence[Sentence]) -> bool:
    """Whether an answer is an admission and no more: besides it only questions and headings."""
    said = [s.text.strip() for s in sentences if any(map(str.isalnum, s.text))]
    return any(map(is_admission, said)) and all(is_admission(text) or _claims_nothing(text) for text in said)


def _claims_nothing(text: str) -> bool:
    return not markers(text) and (text.endswith(("?", "？", "؟", ":", "：")) or text.startswith("#"))
