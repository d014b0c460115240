"""Tell a question for the documents from a greeting, from noise and from what the profile does not answer."""

import re

from prompts.contracts import ClassifyIntent, Intent
from runtime.engines.extractive.followup_words import PRONOUNS
from runtime.engines.extractive.phrases import GREETING_REPLY, OUT_OF_SCOPE_REPLY, UNCLEAR_REPLY, say
from runtime.engines.extractive.words import fold, terms

_GREETINGS = re.compile(
    r"\b(?:hi+|hello+|hey|good (?:morning|afternoon|evening|night|day)|thanks?(?: a lot| so much| very much)?"
    r"|thank you(?: so much| very much)?|(?:good)?bye|see you|cheers|how are you(?: doing)?(?: today)?|nice to meet you"
    r"|bonjour|bonsoir|bonne (?:journee|soiree)|salut|coucou|merci(?: beaucoup| bien)?|au revoir|ca va|a bientot)\b"
    r"|안녕(?:하세요|하십니까|히 계세요|히 가세요)?|반갑습니다|반가워요?|고마워요?|고맙습니다"
    r"|감사(?:합니다|해요|드립니다)?|수고하(?:세요|셨습니다)|잘 지내(?:세요|요)?"
    r"|你好吗?|您好|早上好|下午好|晚上好|早安|晚安|大家好|谢谢(?:你|您)?|多谢|再见|拜拜"
    r"|السلام عليكم(?: ورحمه الله)?(?: وبركاته)?|مرحبا(?: بكم| بك)?|اهلا(?: وسهلا)?|صباح الخير|مساء الخير"
    r"|شكرا(?: جزيلا| لك| لكم)?|مع السلامه|كيف حالك"
)
_FILLERS = re.compile(
    r"\b(?:there|all|everyone|again|and|you|so|much|very|oh|ok|okay|et|a tous|tous|encore|bot|assistant)\b|정말|너무|啊|呀|吧|جدا|و"
)
_JAMO = re.compile(r"^[\u3131-\u318e\s\W]+$")
_KEYS = re.compile(r"^(?:[b-df-hj-np-tv-xz]{5,}|(?:asdf|qwer|zxcv|hjkl|azer|qsdf)\w*|(.)\1{3,})$", re.IGNORECASE)
_SCRIPTLESS = re.compile(r"[^\W\d_]")

LONGEST_REASONING, LONGEST_CATEGORY = 120, 60


def classify_intent(prompt: ClassifyIntent) -> Intent:
    """In doubt the question is let in: words of the scope win over words outside it, and no scope admits every subject."""
    query = prompt.user_query.strip()
    if is_greeting(query):
        return _intent(
            "greeting",
            "high",
            "greeting",
            "It greets or thanks and asks nothing.",
            say(GREETING_REPLY, prompt.language),
        )
    if is_noise(query):
        return _intent("unclear", "high", "", "It has no words to search for.", say(UNCLEAR_REPLY, prompt.language))
    if not prompt.conversation_history and asks_nothing(query, prompt.language):
        return _intent("unclear", "medium", "", "Nothing says what it is about.", say(UNCLEAR_REPLY, prompt.language))
    return _by_scope(prompt, query)


def _by_scope(prompt: ClassifyIntent, query: str) -> Intent:
    words = frozenset(terms(query))
    inside, edge, outside = (
        _first_match(query, words, scope) for scope in (prompt.in_scope, prompt.edge_scope, prompt.out_of_scope)
    )
    if inside:
        return _intent("in_scope", "high", inside, f"It speaks of {inside}.")
    if edge:
        return _intent("edge_case", "medium", edge, f"It speaks of {edge}, which is next to the subject.")
    if outside:
        reply = say(OUT_OF_SCOPE_REPLY, prompt.language)
        return _intent("out_of_scope", "high", outside, f"It speaks of {outside}, which is outside the subject.", reply)
    confident = "low" if prompt.in_scope else "high"
    return _intent("in_scope", confident, "", "Nothing places it outside the subject.")


def is_greeting(query: str) -> bool:
    """Whether nothing but greetings, thanks and their fillers stands in `query`."""
    folded = fold(query)
    rest = _GREETINGS.sub(" ", folded)
    return rest != folded and not _SCRIPTLESS.search(_FILLERS.sub(" ", rest))


def is_noise(query: str) -> bool:
    """No letters at all, keys struck at random, or one letter over and over."""
    words = re.findall(r"\w+", query)
    return not _SCRIPTLESS.search(query) or bool(_JAMO.match(query)) or all(_KEYS.match(word) for word in words)


def asks_nothing(query: str, language: str) -> bool:
    """Only function words and pronouns: it points to something that was not said."""
    pronouns = PRONOUNS.get(language, PRONOUNS["en"])
    return not terms(query) or not terms(pronouns.sub(" ", query))


def _first_match(query: str, words: frozenset[str], scope: tuple[str, ...]) -> str:
    """The first scope word that `query` has: word for word, or in another form of all its words."""
    folded = fold(query)
    for entry in scope:
        wanted = fold(entry)
        # Latin words only whole: `art` is not in `start`.
        spelt = re.search(rf"\b{re.escape(wanted)}\b", folded) if wanted.isascii() else wanted in folded
        if spelt or ((stems := set(terms(entry))) and len(wanted) > 2 and stems <= words):
            return entry
    return ""


def _intent(kind: str, confidence: str, category: str, reasoning: str, reply: str = "") -> Intent:
    return Intent(
        intent=kind,  # type: ignore[arg-type]
        confidence=confidence,  # type: ignore[arg-type]
        category=category[:LONGEST_CATEGORY],
        reasoning=reasoning[:LONGEST_REASONING],
        suggested_response=reply,
    )
