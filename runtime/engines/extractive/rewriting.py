"""Make a follow-up question searchable: words of the conversation beside it, and a name for a pronoun only where that is certain.

A question is not spliced together from parts: half of such sentences are broken, and a search needs words, not sentences.
"""

import re

from index.languages import pattern, spoken
from index.languages.folding import fold
from index.languages.scripts import HANGUL, is_hangul
from index.languages.tables.questions import Followups
from index.languages.words import FUNCTION_WORDS, stem, terms
from index.text.matching import without_question_words
from prompts.contracts import RewriteQuery, RewrittenQuery
from runtime.engines.extractive.topics import names_subject, points_back, topic_words

#: A longer subject is hardly a name; in letters for scripts without spaces.
MOST_WORDS, MOST_LETTERS = 5, 40

_WORD = re.compile(r"[^\W_]+")


def rewrite_query(prompt: RewriteQuery) -> RewrittenQuery:
    """The question, with the words of the conversation that it depends on; a pronoun is replaced if its name is certain."""
    question, language = prompt.current_query, prompt.language
    rewritten = _resolved(question, _subject(prompt), spoken(language).followups)
    changed = rewritten != question
    topic = topic_words(question, prompt.conversation_history, language)
    said = set(terms(rewritten))
    return RewrittenQuery(
        original_query=question,
        rewritten_query=rewritten,
        needs_rewrite=changed,
        rewrite_reason="names what a pronoun means" if changed else "",
        topic=" ".join(word for word in topic.split() if not changed or not said.issuperset(terms(word))),
    )


def loses(question: str, rewritten: str, language: str) -> bool:
    """Whether the rewrite lacks a content word of the question, pronouns aside."""
    kept = rewritten.casefold()
    plain = pattern(spoken(language).followups.pointing.pronouns).sub(" ", question)
    words = _WORD.findall(plain.casefold())
    return any(word not in kept and stem(fold(word)) not in kept for word in words if terms(word))


def _subject(prompt: RewriteQuery) -> str:
    """What the question before named and asked nothing else of, if it reads as a name; else empty."""
    before = next((turn.content for turn in reversed(prompt.conversation_history) if turn.role == "user"), "")
    subject = names_subject(before, prompt.language)
    if not subject or len(subject) > MOST_LETTERS or points_back(before, prompt.language):
        return ""
    marked = pattern(spoken(prompt.language).followups.naming.marked, re.NOFLAG).search(subject)
    words = [fold(word) for word in _WORD.findall(subject)]
    plain = not any(word in FUNCTION_WORDS or not terms(word) for word in words[1:])
    return subject if marked and plain and len(words) <= MOST_WORDS and terms(subject) else ""


def _resolved(question: str, subject: str, own: Followups) -> str:
    """The question with its only pronoun replaced, where grammar allows that and the pronoun can mean nothing in the question."""
    pronouns = list(pattern(own.pointing.pronouns).finditer(question))
    if not subject or len(pronouns) != 1:
        return question
    (pronoun,) = pronouns
    name = next((name for name, found in pronoun.groupdict().items() if found), "")
    if not name or len(terms(without_question_words(question[: pronoun.start()]))) > 1:
        return question
    before, after = question[: pronoun.start(name)], question[pronoun.end(name) :]
    if pronoun[name][0].isupper() or not before.strip(" ¿"):
        subject = subject[0].upper() + subject[1:]
    elif fold(subject.split()[0]) in FUNCTION_WORDS:
        subject = subject[0].lower() + subject[1:]
    if name == "possessive":
        ending = next(put for end, put in own.wording.genitives if subject.endswith(end))
        return f"{before}{subject}{ending}{after}"
    return f"{before}{subject}{_agreeing(subject, after, own)}"


def _agreeing(noun: str, after: str, own: Followups) -> str:
    """What follows, with its particle in the form that the preceding noun requires."""
    # Of a syllable's 28 possible endings, the first is none.
    closed = is_hangul(noun[-1]) is not None and (ord(noun[-1]) - ord(HANGUL[0])) % 28 > 0
    for with_final, without in own.wording.alternations:
        if after[:1] in (with_final, without) and not re.match(r"\w", after[1:2]):
            return (with_final if closed else without) + after[1:]
    return after
