"""Make a follow-up question stand alone: carry over the subject that it leaves out or points back to."""

import re

from prompts.contracts import RewriteQuery, RewrittenQuery
from prompts.vocabulary import Language
from runtime.engines.extractive.followup_words import ABOUT, INTRODUCES, PLACES, PRONOUNS, THERE
from runtime.engines.extractive.topics import brings_topic, main_phrase, topics
from runtime.engines.extractive.words import fold, stem, terms

#: A question with at least this many content words of its own stands alone unless it points back.
STANDS_ALONE = 7
LANGUAGES: tuple[Language, ...] = ("ko", "en", "zh", "fr", "ar")

JOINS = {"ko": ", ", "en": " and ", "zh": "、", "fr": " et ", "ar": " و"}

_WORD = re.compile(r"[^\W_]+")
_ARTICLE = re.compile(r"^(?:a|an|the|some|my|les?|la|l['’]|une?|des) ?", re.IGNORECASE)
_END = re.compile(r"\s*[?？؟.!。]*\s*$")
_LAST_ADJUNCT = re.compile(
    r"\b(?:for|on|with|in|at|pour|avec|dans|en|chez|sur) (?P<what>[^?.!,]+?)\s*[?.!]*\s*$", re.IGNORECASE
)
_OF_TOPIC = re.compile(
    r"^\W*what(?:'s| is| are| was| were) (?:the |some (?:of the )?|other )?(?:\w+ ){0,3}\w+$", re.IGNORECASE
)


def rewrite_query(prompt: RewriteQuery) -> RewrittenQuery:
    """No content word of the question is ever lost; without a topic to carry over it stays as it is."""
    question = prompt.current_query
    language = prompt.language if prompt.language in LANGUAGES else "en"
    subject, first = topics(prompt.conversation_history, language)
    rewritten, reason = _placed(question, prompt, language), "names the place"
    if rewritten == question and subject:
        rewritten, reason = _rewritten(question, subject, first, _previous(prompt), language)
    if loses(question, rewritten, language):
        rewritten, reason = _added(question, subject, language), "adds the subject"
    changed = rewritten != question
    return RewrittenQuery(
        original_query=question,
        rewritten_query=rewritten,
        needs_rewrite=changed,
        rewrite_reason=reason[:100] if changed else "",
    )


def loses(question: str, rewritten: str, language: str) -> bool:
    """Whether a content word of the question, pronouns aside, is no longer there."""
    kept = rewritten.casefold()
    about = ABOUT[language].search(question)
    plain = f"{question[: about.start()]} {about['about']}" if about else question
    plain = THERE[language].sub(" ", plain) if language in THERE else plain
    words = _WORD.findall(PRONOUNS[language].sub(" ", plain).casefold())
    return any(word not in kept and stem(fold(word)) not in kept for word in words if terms(word))


def _rewritten(  # noqa: PLR0911 - one rule a line reads best
    question: str, subject: str, first: str, previous: str, language: str
) -> tuple[str, str]:
    about = ABOUT[language].search(question)
    if about and len(terms(about["about"])) <= STANDS_ALONE:
        return _about(question, about, subject, previous, language), "takes the question before over"
    asked, carried = set(terms(question)), set(terms(subject))
    if carried <= asked:
        return question, ""
    named = _named_in_part(question, subject, language)
    if named:
        return named, f"it is about {subject}"
    pronoun = _pronoun(question, language)
    if pronoun:
        return _resolved(question, pronoun, subject, language), f"{pronoun.group().strip()} is {subject}"
    if carried & asked and subject.rsplit(maxsplit=1)[-1].lower() in question.lower():
        return question, ""
    phrase = main_phrase(question, language)
    if phrase and INTRODUCES[language].search(question) and brings_topic(question, phrase, language):
        return question, ""
    if len(terms(question)) >= STANDS_ALONE:
        return question, ""
    last = main_phrase(previous, language)
    whole = _listed([subject, last, first], question, language)
    return _added(question, whole, language), "adds the subject"


def _placed(question: str, prompt: RewriteQuery, language: str) -> str:
    """`there` made `in Tokyo`, where a question before says so."""
    there = THERE[language].search(question) if language in THERE else None
    if there is None or PRONOUNS[language].search(question.replace(there.group(), "")):
        return question
    for turn in reversed(prompt.conversation_history):
        if turn.role == "user" and (places := PLACES[language].findall(turn.content)):
            return f"{question[: there.start()]}{places[-1]}{question[there.end() :]}"
    return question


def _listed(phrases: list[str], question: str, language: str) -> str:
    """The phrases that say something which neither the question nor those before them say, in one list."""
    said, kept = set(terms(question)), list[str]()
    for phrase in phrases:
        words = set(terms(phrase))
        if phrase and not words & said:
            kept.append(phrase)
        said |= words
    return JOINS[language].join(kept) or phrases[0]


def _pronoun(question: str, language: str) -> re.Match[str] | None:
    """The first pronoun that the question does not answer itself by a name before it."""
    for found in PRONOUNS[language].finditer(question):
        before = question[: found.start()].split()
        if not any(word[:1].isupper() and len(word) > 1 for word in before[1:]) or language in ("zh", "ar", "ko"):
            return found
    return None


def _named_in_part(question: str, subject: str, language: str) -> str:
    """`the experiment` made `the Stanford Experiment`: a definite word of the subject stands for all of it."""
    if language not in ("en", "fr"):
        return ""
    head = re.escape(subject.rsplit(maxsplit=1)[-1])
    found = re.search(rf"\b(?:the|this|that|le|la|l['’]|cette?) ?{head}\b", question, re.IGNORECASE)
    if not found or len(subject.split()) < 2:
        return ""
    article = (
        "" if subject.lower().startswith(("the ", "le ", "la ", "les ", "l'")) else "the " if language == "en" else ""
    )
    return f"{question[: found.start()]}{article}{subject}{question[found.end() :]}"


def _resolved(question: str, pronoun: re.Match[str], subject: str, language: str) -> str:
    """The pronoun replaced where grammar allows, else the subject added."""
    before, after = question[: pronoun.start()], question[pronoun.end() :]
    possessive = pronoun.groupdict().get("possessive")
    if language == "en":
        if pronoun.group().lower() in ("one", "ones"):
            subject = _ARTICLE.sub("", subject)
        return f"{before}{subject}{_genitive(subject) if possessive else ''}{after}"
    if language == "zh":
        return f"{before}{subject}{'的' if pronoun.group() == '其' else ''}{after}"
    if language == "ko" and not pronoun.group().endswith(" ") and pronoun.group() != "해당":
        return f"{before}{subject}{_agreeing(subject, after)}"
    if language == "fr" and not possessive and not pronoun.group().startswith("-"):
        return f"{before}{subject}{after}"
    return _added(question, subject, language)


def _about(question: str, about: re.Match[str], subject: str, previous: str, language: str) -> str:
    """The question before with one thing exchanged where its place is plain, else both subjects in one question."""
    new = about["about"].strip()
    place = None if PRONOUNS[language].search(new) else _place(new, subject, previous, language)
    if place is not None:
        start, end = place
        article = _ARTICLE.match(previous[start:end])
        put = new if article else _ARTICLE.sub("", new)
        return f"{question[: about.start()]}{previous[:start]}{put}{previous[end:]}".strip()
    return question if set(terms(subject)) <= set(terms(question)) else _added(question, subject, language)


def _place(new: str, subject: str, previous: str, language: str) -> tuple[int, int] | None:
    """Where in the question before the new thing belongs: its last adjunct, or the thing it was about."""
    shared = set(terms(new)) & (set(terms(previous)) - set(terms(subject)))
    if language in ("en", "fr") and not shared:
        adjunct = _LAST_ADJUNCT.search(previous)
        if adjunct and main_phrase(adjunct["what"], language):
            return adjunct.span("what")
    # In the other languages only things of one kind change places: `국내 주문` and `해외 주문`.
    kin = set(new) & set(subject) if language == "zh" else set(terms(new)) & set(terms(subject))
    if language not in ("en", "fr") and not kin:
        return None
    bare = _ARTICLE.sub("", subject)
    found = re.search(rf"(?<![a-zA-Z])((?:an?|l[ea]s?|une?|l['’]) ?)?{re.escape(bare)}(?![a-zA-Z])", previous)
    # "the refund period" is what is asked of a thing, not the thing itself.
    if found and not shared and not re.search(r"\bthe $", previous[: found.start()], re.IGNORECASE):
        return found.span()
    return None


def _added(question: str, subject: str, language: str) -> str:
    if language == "ko":
        return f"{subject}에 대해, {question}"
    if language == "zh":
        return f"关于{subject}，{question}"
    ending = _END.search(question)
    cut = ending.start() if ending else len(question)
    body, end = question[:cut], question[cut:].strip() or "?"
    if language == "fr":
        return f"{body}, concernant {subject} {end}"
    if language == "ar":
        return f"{body} بخصوص {subject}{end}"
    return f"{body} {'of' if _OF_TOPIC.match(body) else 'in the case of'} {subject}{end}"


def _agreeing(noun: str, after: str) -> str:
    """A Korean particle in the form that the noun before it asks for."""
    closed = "\uac00" <= noun[-1] <= "\ud7a3" and (ord(noun[-1]) - 0xAC00) % 28 > 0
    for with_final, without in (("은", "는"), ("이", "가"), ("을", "를"), ("과", "와")):
        if after[:1] in (with_final, without) and not re.match(r"\w", after[1:2]):
            return (with_final if closed else without) + after[1:]
    return after


def _genitive(subject: str) -> str:
    return "'" if subject.endswith("s") else "'s"


def _previous(prompt: RewriteQuery) -> str:
    return next((turn.content for turn in reversed(prompt.conversation_history) if turn.role == "user"), "")
