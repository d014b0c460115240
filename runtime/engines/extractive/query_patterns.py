"""How the five languages ask, join, compare and introduce: the patterns that take a question apart."""

import re
from typing import Final

ASKS: Final = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b"
    r"|^(?:is|are|was|were|do|does|did|can|could|may|must|should|will|has|have)\b"
    r"|\b(?:qui|quand|où|pourquoi|comment|combien|quel(?:le)?s?|que|quoi|est-ce)\b|qu'est"
    r"|-(?:il|elle|on|ils|elles|je|nous|vous)\b"
    r"|누구|누가|무엇|무슨|뭐|어디|언제|왜|어떻게|어떤|얼마|몇|어느|나요|까요|습니까|는지|은지|인가요|한가요"
    r"|什么|谁|哪|何时|为何|为什么|怎么|怎样|如何|多少|几|吗|是否|多久|多长|多大"
    r"|هل|ماذا|ما |متى|أين|كيف|لماذا|كم|من (?:هو|هي|الذي|يجب|يحق)|أي ",
    re.IGNORECASE,
)
BREAKS: Final = re.compile(
    r"[?？؟;；。]+\s*"
    r"|[,，،、]\s*(?:(?:and|or|but|then|also|et|ou|mais|puis|그리고|또한|또|以及|并且|而且|还有|و)\s*)?"
    r"|\s(?:and|or|but|et|ou|mais|puis) (?=(?:also |is |are |do |does |can |must |should |in |at |à |dans )?"
    r"(?:what|which|who|when|where|why|how|is|are|do|does|can|must|should"
    r"|qui|quand|où|pourquoi|comment|combien|quel|que |est-ce)\b)"
    r"|\s(?:그리고|또한|및)\s|以及|并且|(?<=[\u0620-\u06ff])\s(?=و(?:ما|كيف|لماذا|متى|أين|هل|كم|من)\s)",
    re.IGNORECASE,
)
#: What is left of a break at the end of a part.
JOINING: Final = re.compile(
    r"[\s,，،、]+(?:and|or|but|then|also|et|ou|mais|puis|그리고|또한|及|以及|并且|و)?[\s,，،、]*$", re.IGNORECASE
)
COMPARES: Final = re.compile(
    r"\b(?:compar\w+|differen\w+|differ|versus|vs|pros and cons|advantages and disadvantages)\b"
    r"|\b(?:différ\w+|avantages et inconvénients)\b"
    r"|比较|区别|对比|差异|不同|优缺点|비교|차이|장단점|مقارنة|قارن|الفرق|مزايا وعيوب",
    re.IGNORECASE,
)
#: Groups `one` and `two` are the sides of a comparison.
BETWEEN: Final = (
    re.compile(
        r"\b(?:between|compare|comparing) (?P<one>.{2,60}?) (?:and|with|to|vs\.?|versus) (?P<two>[^?,.]{2,60})",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?P<one>[\w -]{2,40}?) (?:vs\.?|versus) (?P<two>[\w -]{2,40})", re.IGNORECASE),
    re.compile(r"\b(?:entre|compare[rz]?) (?P<one>.{2,60}?) (?:et|avec|à) (?P<two>[^?,.]{2,60})", re.IGNORECASE),
    re.compile(
        r"(?P<one>[가-힣A-Za-z0-9 ]{1,30}?)(?:와|과|랑|하고) (?P<two>[가-힣A-Za-z0-9 ]{1,30}?)"
        r"(?:의|을|를|은|는|이|가)? ?(?:차이|비교|다른|장단점)"
    ),
    re.compile(
        r"(?:比较|对比)?(?P<one>[^，。？和与跟]{2,20})[和与跟](?P<two>[^，。？的有之]{2,20}?)"
        r"(?:的|有|之间|相比)*(?:什么|哪些)?(?:区别|不同|差异|比较|对比|优缺点)"
    ),
    re.compile(r"(?:بين|قارن) (?P<one>[^؟،]{2,50}?) (?:و|مع )(?P<two>[^؟،]{2,50})"),
)
#: Asking words at the beginning, with what is said before them for politeness.
OPENING: Final = re.compile(
    r"^(?:(?:so|and|also|please|then|can you tell me|could you tell me|tell me|do you know"
    r"|i (?:want|would like) to know|dites-moi|dis-moi|je voudrais savoir"
    r"|请问|我想知道|请告诉我|그럼|그러면|혹시)[ ,，]*)*"
    r"(?:(?:in|at|on|for|to|from|by|with) (?=what|which|whom))?"
    r"(?:what|which|who|whom|whose|when|where|why|how(?: (?:many|much|long|often|far|old|big|high))?"
    r"|qu'est-ce qu(?:e |i |')|est-ce qu(?:e |')|qui|quand|où|pourquoi|comment|combien(?: de)?|quel(?:le)?s?"
    r"|هل|ماذا|متى|أين|كيف|لماذا|كم|ما)\b\s*",
    re.IGNORECASE,
)
AUXILIARY: Final = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|must|may"
    r"|est|sont|était|étaient|a-t-(?:il|elle)|هو|هي)\b\s*(?:(?:there|it|i|we|you|one|the case that)\b\s*)?",
    re.IGNORECASE,
)
CLOSING: Final = re.compile(
    r"(?:\s?(?:무엇|누구|어디|언제|얼마|몇)?(?:인가요|인가|입니까|일까요|인지요?|이에요|예요|나요|은가요|한가요"
    r"|습니까|합니까|됩니까|는지|알려\s?주세요|궁금합니다))+\s*$"
    r"|(?:是什么|有哪些|是谁|在哪里|在哪|是多少|吗|呢)+\s*$"
)
#: Asking words that stand where the answer would.
INSIDE: Final = re.compile(
    r"(?:무엇|누구|어디|언제|얼마나?|몇|어느|어떤|무슨)(?:을|를|이|가|에|에서|의)?\s"
    r"|(?:有)?(?:什么时候|什么|哪些|哪个|多少|多久|怎么样|怎么|怎样|如何|为什么|是否)(?:是)?"
)
PARTICLE: Final = re.compile(r"(?<=[가-힣])(?:은|는|이|가|을|를|에서|으로)$")
