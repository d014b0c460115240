"""The words that only make a question of a sentence: what, combien, 무엇, 什么, متى.

Passages hold answers, not questions, so these words are rare in them; weighed by rarity, they would count for more than what is
asked about. Capitals keep a word where they make a name of it (the WHO, The Who).
"""

import re

_LATIN = (
    r"what(?:['’]s)?|who(?:['’]s)?|whom|whose|when|where|which|why|how(?:\s(?:many|much))?|do|does|did"
    r"|qu['’]est[- ]ce(?:\s+qu[ei])?|est[- ]ce(?:\s+que)?|quel(?:le)?s?|l(?:equel|aquelle|esquel(?:le)?s)"
    r"|qui|que|quoi|comment|pourquoi|combien|où|quand"
    r"|(?:peut|peuvent|doit|doivent|faut|va|vont|est|sont|a-t|existe-t|y\sa-t)-(?:on|ils?|elles?)"
)
_KOREAN = r"(?:무엇|누구|언제|어디|어떤|어느|무슨|얼마|어떻|뭐|몇)[가-힣]*|누가|왜"
_ARABIC = r"ماذا|لماذا|ما|متى|أين|اين|كيف|(?<!\d\s)كم|هل|أية|أي|اي"
_CHINESE = (
    r"为什么|什么(?:时候|样)?|怎么样?|怎样|多少|多久|有多[大长高远]|多[大长高远](?=\W*$)|哪(?!吒)(?:一?[个些里年位种家座])?|谁"
    r"|(?<!任)何[时地处]|为何|如何|几(?=[个年月日天次种名位岁人点号代])|[吗呢](?=\W*$)"
)
_QUESTION_WORD = re.compile(rf"(?<!\w)(?:{_LATIN}|{_KOREAN}|{_ARABIC})(?!\w)|{_CHINESE}", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^|[.?!:;¿¡(«“\"–—-])\W*$")


def without_question_words(question: str) -> str:
    """The question without them; as it is where nothing else would be left."""
    shouted = question.isupper()

    def drop(found: re.Match[str]) -> str:
        word = found[0]
        if word[0].isupper() and not shouted and (word.isupper() or not _BEGINS.search(question[: found.start()])):
            return word
        return " "

    left = _QUESTION_WORD.sub(drop, question)
    return left if any(map(str.isalnum, left)) else question
