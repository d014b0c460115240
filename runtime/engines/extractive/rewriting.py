"""Make a follow-up question searchable: words of the conversation beside it, and a name for a pronoun only where that is certain.

The words are those of the question before, of the last one that stood alone, and, if the follow-up itself points back, those that
the conversation repeats: an answer says again what it is about. A question is not spliced together from parts: half of such
sentences are broken, and a search needs words, not sentences.
"""

import re
from collections import Counter

from index.languages import pattern, spoken
from index.languages.characters import HANGUL, fold, is_hangul, is_latin
from index.languages.tables.questions import Followups
from index.languages.words import FUNCTION_WORDS, stem, terms, written
from index.text.question_words import without_question_words
from prompts.contracts import RewriteQuery, RewrittenQuery, Turn

#: A question with at least this many content words of its own stands alone unless it points back.
STANDS_ALONE = 5
MOST_WORDS = 14
MOST_REPEATED = 8
#: What a turn counts beside the one after it, where words are ranked by how often they are said.
_FADES = 0.84

_CITED = re.compile(r"\[\d+\]")
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def topic_words(question: str, history: tuple[Turn, ...], language: str) -> str:
    """The words to search for beside those of the question; empty if it stands alone."""
    asked = [turn.content for turn in history if turn.role == "user"]
    points = points_back(question, language)
    before = fold(" ".join(turn.content for turn in history))
    if not asked or not (points or not _stands_alone(question, language, before)):
        return ""
    named = next((text for text in reversed(asked) if _stands_alone(text, language)), asked[0])
    words = [
        *_asked_about(asked[-1], language),
        *_asked_about(named, language),
        *(_repeated(history) if points else ()),
    ]
    said, found = set(terms(question)), list[str]()
    for word in words:
        new = set(terms(word)) - said
        if new:
            found.append(word)
            said |= new
    return " ".join(found[:MOST_WORDS])


def points_back(question: str, language: str) -> bool:
    """Whether a question plainly goes on from what was said: by how it begins, or by a pronoun with nothing before it to mean."""
    pointing = spoken(language).followups.pointing
    if pattern(pointing.opens).search(question):
        return True
    return any(
        len(terms(without_question_words(question[: pronoun.start()]))) < 2
        for pronoun in pattern(pointing.pronouns).finditer(question)
    )


def _stands_alone(question: str, language: str, said: str = "") -> bool:
    """Whether a question points back to nothing, and is long or names what it is about; `said`: where a name is not new."""
    if points_back(question, language):
        return False
    if len(set(terms(question))) >= STANDS_ALONE:
        return True
    return bool(names_subject(question, language)) or _brings_a_name(question, said)


def names_subject(question: str, language: str) -> str:
    """What a question names and asks nothing else of ("What is the refund period?"); empty for other questions."""
    for name in spoken(language).followups.naming.names:
        found = pattern(name).search(question)
        if found:
            return found["subject"].strip()
    return ""


def _brings_a_name(question: str, said: str) -> bool:
    """Whether the question has a name or code that the conversation has not: capitals, digits, or Latin letters among others."""
    words = list(_WORD.finditer(question))
    others = not all(is_latin(word[0]) or word[0].isdigit() for word in map(re.Match.group, words))
    for place, word in enumerate(map(re.Match.group, words)):
        foreign = others and is_latin(word[0]) and len(word) > 1
        marked = place > 0 and len(word) > 1 and not word.islower() and word != word.lower() and not question.isupper()
        if (foreign or marked or any(map(str.isdigit, word))) and fold(word) not in said:
            return True
    return False


def _asked_about(question: str, language: str) -> list[str]:
    return _words(names_subject(question, language) or question)


def _words(text: str) -> list[str]:
    """The content words as written; Hangul without its particles."""
    words = written(without_question_words(_CITED.sub(" ", text)))
    return [stem(word) if all(map(is_hangul, word)) else word for word in words]


def _repeated(history: tuple[Turn, ...]) -> list[str]:
    """The words said at least twice, the most and latest said first."""
    weights, times, forms = dict[str, float](), Counter[str](), dict[str, str]()
    for age, turn in enumerate(reversed(history)):
        for word in _words(turn.content):
            for term in terms(word):
                forms.setdefault(term, word)
                times[term] += 1
                weights[term] = weights.get(term, 0.5) + 0.5 * _FADES**age
    ranked = [forms[term] for term in sorted(weights, key=lambda term: -weights[term]) if times[term] > 1]
    return list(dict.fromkeys(ranked))[:MOST_REPEATED]


#: A longer subject is hardly a name; in letters for scripts without spaces.
LONGEST_NAME, MOST_LETTERS = 5, 40

_NAME_WORD = re.compile(r"[^\W_]+")


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


def _subject(prompt: RewriteQuery) -> str:
    """What the question before named and asked nothing else of, if it reads as a name; else empty."""
    before = next((turn.content for turn in reversed(prompt.conversation_history) if turn.role == "user"), "")
    subject = names_subject(before, prompt.language)
    if not subject or len(subject) > MOST_LETTERS or points_back(before, prompt.language):
        return ""
    marked = pattern(spoken(prompt.language).followups.naming.marked, re.NOFLAG).search(subject)
    words = [fold(word) for word in _NAME_WORD.findall(subject)]
    plain = not any(word in FUNCTION_WORDS or not terms(word) for word in words[1:])
    return subject if marked and plain and len(words) <= LONGEST_NAME and terms(subject) else ""


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
