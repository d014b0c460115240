"""Make a follow-up question stand alone: carry over the subject that it omits or refers back to."""

import re

from index.languages import pattern, spoken
from index.languages.folding import fold
from index.languages.scripts import HANGUL, is_hangul
from index.languages.stems import stem
from index.languages.tables.followups import Followups
from index.languages.words import terms
from prompts.contracts import RewriteQuery, RewrittenQuery
from runtime.engines.extractive.topics import brings_topic, main_phrase, topics

#: A question with at least this many content words of its own stands alone unless it refers back.
STANDS_ALONE = 7

_WORD = re.compile(r"[^\W_]+")
_END = re.compile(r"\s*[?？؟.!。]*\s*$")


def rewrite_query(prompt: RewriteQuery) -> RewrittenQuery:
    """Rewrite the question without losing a content word; with no topic to carry over it is unchanged."""
    question, language = prompt.current_query, prompt.language
    own = spoken(language).followups
    subject, first = topics(prompt.conversation_history, language)
    rewritten, reason = _placed(question, prompt, own), "names the place"
    if rewritten == question and subject:
        rewritten, reason = _rewritten(question, subject, first, _previous(prompt), language)
    if loses(question, rewritten, language):
        rewritten, reason = _added(question, subject, own), "adds the subject"
    changed = rewritten != question
    return RewrittenQuery(
        original_query=question,
        rewritten_query=rewritten,
        needs_rewrite=changed,
        rewrite_reason=reason[:100] if changed else "",
    )


def loses(question: str, rewritten: str, language: str) -> bool:
    """Whether the rewrite lacks a content word of the question, pronouns aside."""
    kept, pointing = rewritten.casefold(), spoken(language).followups.pointing
    about = pattern(pointing.about).search(question)
    plain = f"{question[: about.start()]} {about['about']}" if about else question
    plain = pattern(pointing.there).sub(" ", plain)
    words = _WORD.findall(pattern(pointing.pronouns).sub(" ", plain).casefold())
    return any(word not in kept and stem(fold(word)) not in kept for word in words if terms(word))


def _rewritten(  # noqa: PLR0911 - one rule a line reads best
    question: str, subject: str, first: str, previous: str, language: str
) -> tuple[str, str]:
    own = spoken(language).followups
    about = pattern(own.pointing.about).search(question)
    if about and len(terms(about["about"])) <= STANDS_ALONE:
        return _about(question, about, subject, previous, language), "takes the question before over"
    asked, carried = set(terms(question)), set(terms(subject))
    if carried <= asked:
        return question, ""
    named = _named_in_part(question, subject, own)
    if named:
        return named, f"it is about {subject}"
    pronoun = _pronoun(question, own)
    if pronoun:
        return _resolved(question, pronoun, subject, own), f"{pronoun.group().strip()} is {subject}"
    if carried & asked and subject.rsplit(maxsplit=1)[-1].lower() in question.lower():
        return question, ""
    phrase = main_phrase(question, language)
    introduces = pattern(own.pointing.introduces).search(question)
    if phrase and introduces and brings_topic(question, phrase, language):
        return question, ""
    if len(terms(question)) >= STANDS_ALONE:
        return question, ""
    last = main_phrase(previous, language)
    whole = _listed([subject, last, first], question, own)
    return _added(question, whole, own), "adds the subject"


def _placed(question: str, prompt: RewriteQuery, own: Followups) -> str:
    """Replace `there` with `in Tokyo` if an earlier question names the place."""
    there = pattern(own.pointing.there).search(question)
    if there is None or pattern(own.pointing.pronouns).search(question.replace(there.group(), "")):
        return question
    as_written = pattern(own.pointing.places, re.NOFLAG)
    for turn in reversed(prompt.conversation_history):
        if turn.role == "user" and (places := as_written.findall(turn.content)):
            return f"{question[: there.start()]}{places[-1]}{question[there.end() :]}"
    return question


def _listed(phrases: list[str], question: str, own: Followups) -> str:
    """The phrases that add something to the question and to the phrases before them, as one list."""
    said, kept = set(terms(question)), list[str]()
    for phrase in phrases:
        words = set(terms(phrase))
        if phrase and not words & said:
            kept.append(phrase)
        said |= words
    return own.wording.between.join(kept) or phrases[0]


def _pronoun(question: str, own: Followups) -> re.Match[str] | None:
    """The first pronoun whose name is not earlier in the question itself."""
    for found in pattern(own.pointing.pronouns).finditer(question):
        before = question[: found.start()].split()
        if not own.topic.capitals or not any(word[:1].isupper() and len(word) > 1 for word in before[1:]):
            return found
    return None


def _named_in_part(question: str, subject: str, own: Followups) -> str:
    """Replace `the experiment` with `the Stanford Experiment`: a definite word of the subject stands for all of it."""
    the, head = own.wording.the, re.escape(subject.rsplit(maxsplit=1)[-1])
    found = re.search(rf"\b(?:{pattern(own.wording.definite).pattern}) ?{head}\b", question, re.IGNORECASE)
    if not found or len(subject.split()) < 2:
        return ""
    article = "" if subject.lower().startswith(the) else the
    return f"{question[: found.start()]}{article}{subject}{question[found.end() :]}"


def _resolved(question: str, pronoun: re.Match[str], subject: str, own: Followups) -> str:
    """Replace the pronoun where grammar allows, else add the subject."""
    before, after = question[: pronoun.start()], question[pronoun.end() :]
    groups = pronoun.groupdict()
    if groups.get("kept"):
        return _added(question, subject, own)
    if groups.get("possessive"):
        ending = next((put for end, put in own.wording.genitives if subject.endswith(end)), None)
        return _added(question, subject, own) if ending is None else f"{before}{subject}{ending}{after}"
    if groups.get("bare"):
        subject = pattern(own.wording.determiners).sub("", subject)
    return f"{before}{subject}{_agreeing(subject, after, own)}"


def _about(question: str, about: re.Match[str], subject: str, previous: str, language: str) -> str:
    """The previous question with one thing exchanged if its place is clear, else both subjects in one question."""
    own, new = spoken(language).followups, about["about"].strip()
    place = None if pattern(own.pointing.pronouns).search(new) else _place(new, subject, previous, language)
    if place is not None:
        start, end = place
        determiner = pattern(own.wording.determiners)
        put = new if determiner.match(previous[start:end]) else determiner.sub("", new)
        return f"{question[: about.start()]}{previous[:start]}{put}{previous[end:]}".strip()
    return question if set(terms(subject)) <= set(terms(question)) else _added(question, subject, own)


def _place(new: str, subject: str, previous: str, language: str) -> tuple[int, int] | None:
    """Where in the previous question the new thing belongs: its last adjunct, or what it was about."""
    own = spoken(language).followups
    shared = set(terms(new)) & (set(terms(previous)) - set(terms(subject)))
    adjunct = None if shared else pattern(own.wording.adjunct).search(previous)
    if adjunct and main_phrase(adjunct["what"], language):
        return adjunct.span("what")
    # Without prepositions, only things of one kind can be exchanged: `domestic orders` and `foreign orders`.
    kin = set(new) & set(subject) if own.topic.breaks else set(terms(new)) & set(terms(subject))
    if not own.wording.adjunct and not kin:
        return None
    bare = re.escape(pattern(own.wording.determiners).sub("", subject))
    found = re.search(rf"(?<![a-zA-Z])(?:{pattern(own.wording.exchanged).pattern})?{bare}(?![a-zA-Z])", previous)
    # "the refund period" is what is asked of a thing, not the thing itself.
    if found and not shared and not pattern(own.wording.asked_of).search(previous[: found.start()]):
        return found.span()
    return None


def _added(question: str, subject: str, own: Followups) -> str:
    ending = _END.search(question)
    cut = ending.start() if ending else len(question)
    body, end = question[:cut], question[cut:].strip() or "?"
    added = own.wording.added_of if pattern(own.wording.asks_of).match(body) else own.wording.added
    return added.format(question=question, body=body, subject=subject, end=end)


def _agreeing(noun: str, after: str, own: Followups) -> str:
    """What follows, with its particle in the form that the preceding noun requires."""
    # Of a syllable's 28 possible endings, the first is none.
    closed = is_hangul(noun[-1]) is not None and (ord(noun[-1]) - ord(HANGUL[0])) % 28 > 0
    for with_final, without in own.wording.alternations:
        if after[:1] in (with_final, without) and not re.match(r"\w", after[1:2]):
            return (with_final if closed else without) + after[1:]
    return after


def _previous(prompt: RewriteQuery) -> str:
    return next((turn.content for turn in reversed(prompt.conversation_history) if turn.role == "user"), "")
