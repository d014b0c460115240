"""Check one sentence of an answer: by the gate, by translation where its language is wrong, and by the verifier."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from actors.answering.citing import citing, with_marks
from actors.answering.outgoing import Cleaning
from actors.evidence.prompt_evidence import evidence_of
from actors.gate import flags as gate
from actors.gate.check import check_sentence, stands_alone
from actors.gate.flags import BEYOND, standing
from actors.outcome.admissions import excused, is_admission
from actors.question.profile import in_language, profile_of
from actors.question.resolved import asks_model
from bus.powers.protocols import Ask
from bus.wire.errors import Failure
from bus.wire.messages import AnswerRequested, Draft, same_fields
from bus.wire.parts import Contradiction, Flag, Question, Sentence
from index.languages.detection import detect
from index.text.citations import markers, strip_markers
from index.text.sentences import in_sentences
from prompts import contracts, notices
from prompts.thinking import without_thinking
from prompts.vocabulary import FlagKind, Style

#: A verdict with so many contradictions may have left out others.
MOST_CONTRADICTIONS: Final = 5
#: What the rules suspect and a model may know better.
DOUBTS: Final = frozenset({"low_overlap", "unverified"})


class SentenceCheck:
    """Checks the sentences of one answer in order; `contradictions` are those that the verifier found so far."""

    def __init__(self, request: AnswerRequested, ask: Ask, cleaning: Cleaning, *, cites: bool) -> None:
        profile = profile_of(request.question.profile)
        self.contradictions: list[Contradiction] = []
        self._question = request.question
        self._ask = ask
        self._cleaning = cleaning
        self._evidence = evidence_of(request.evidence, to_model=request.question.has_model)
        self._advice = in_language(profile.safety_advice, request.question.language)
        self._cites = cites and request.style != "hint"  # a hint encourages in words of its own
        # A structured answer lists its sources beside its text.
        self._adds = self._cites and request.style != "structured" and request.question.release != "token"
        self.verifies = is_verified(request.question, request.style) and request.question.release == "sentence"
        #: Whether a model verifies, for which one call with several sentences costs least.
        self.by_model = asks_model(request.question, "verify_answer")
        self._hints = request.style == "hint"  # its questions and encouragement claim nothing about the documents

    async def __call__(self, written: str) -> tuple[Sentence, bool]:
        """The sentence with its flags, and whether it is still to be verified. Under `draft` and `sentence` it may be withheld."""
        release = self._question.release
        written = self.marked(written)
        text = self._cleaning.harmless(written)  # the text that people will read: markup can hide a number
        flags = self.flags(text, written)
        if release == "sentence" and {flag.kind for flag in flags if flag.strength == "strong"} <= {"unsupported"}:
            text, flags = await self._translated(text, flags)
        strong = standing(flags) == "withheld"
        advice = self._is_advice(text)
        alone = self._cites and not (advice or is_admission(text)) and stands_alone(text, self._evidence)
        lacks = self._adds and not (strong or advice) and (alone or any(flag.kind == "uncited" for flag in flags))
        if lacks and (now := self._cited(text, alone=alone)):
            (text, flags), alone = now, False
        if alone and release == "token":
            why = gate.flag("unsupported", text.strip(), (), "cites nothing, and most of it is not in the evidence")
            flags = (on_wire(why), *flags)
        dropped = alone or any(flag.kind == "empty" for flag in flags)
        withheld = dropped and release != "token"
        claims = self.verifies and not (strong or dropped or advice) and (self._hints or _is_prose(text))
        read = claims and not (self.by_model and not self._hints and self._copied(text))
        return Sentence(text=text, flags=flags, withheld=withheld), read

    def marked(self, written: str) -> str:
        """The sentence with its citations in brackets, unless it was shown as it is."""
        return written if self._question.release == "token" else with_marks(written, self._evidence)

    def flags(self, text: str, written: str | None = None) -> tuple[Flag, ...]:
        """The gate's flags for a sentence. `written`: the sentence before it was made harmless."""
        if self._is_advice(text) and written in (None, text):
            return ()
        language, urls = self._question.language, self._cleaning.urls
        found = flags_of(text, self._evidence, language, written=written, urls=urls, question=self._question.asked)
        if self._hints and not markers(text):
            found = tuple(flag for flag in found if flag.kind not in BEYOND)
        if text.lstrip().startswith(">"):  # a quotation is in the language of its source
            found = tuple(flag for flag in found if flag.kind != "wrong_language")
        return found

    def _cited(self, text: str, *, alone: bool) -> tuple[str, tuple[Flag, ...]] | None:
        """The sentence with the citation that it lacks, and its flags then; None where no evidence has it. `alone`: its words are
        for the most part in none, so it must be verified.
        """
        beyond = None
        for each in citing(text, self._evidence):
            flags = self.flags(each)
            found = standing(flags)
            if found == "verified":
                return each, flags
            beyond = beyond or (None if alone or found == "withheld" else (each, flags))
        return beyond

    def _is_advice(self, text: str) -> bool:
        """Whether the text is the profile's own advice, which needs no support from a document."""
        return bool(text.strip()) and text.strip() in self._advice

    async def _translated(self, text: str, flags: tuple[Flag, ...]) -> tuple[str, tuple[Flag, ...]]:
        """A sentence in the wrong language, translated by the guard and checked again."""
        if not any(flag.kind == "wrong_language" for flag in flags):
            return text, flags
        language = self._question.language
        try:
            translated = await self._ask(contracts.GuardLanguage(text=text, target_language=language))
        except Failure:
            return text, flags
        written = without_thinking(translated).strip()
        translated = self._cleaning.harmless(written) + text[len(text.rstrip()) :]
        if detect(translated) != language or cited_in(translated) != cited_in(text):
            return text, flags
        return translated, self.flags(translated, written)

    async def verified(self, sentences: Sequence[Sentence], before: str) -> list[Sentence]:
        """The sentences after one call of the verifier; every contradiction is kept. `before`: the sentence before them, if any."""
        if not sentences:
            return []
        try:
            verdict = await self._ask(prompt_of(self._question, sentences, self._evidence, before, hints=self._hints))
        except Failure:  # they have passed the gate, and the verifier alone never refuses
            return [unread(one) for one in sentences]
        self.contradictions += contradictions_of(verdict, hints=self._hints)
        return weighed(self._question, sentences, verdict, hints=self._hints)

    def _copied(self, text: str) -> bool:
        """Whether the text only repeats a span, or names sources, so that the gate's checks are enough."""
        words = " ".join(strip_markers(text).split()).strip(" .。")
        label = notices.label("source", self._question.language)
        return words.startswith((">", label)) or any(words in " ".join(each.text.split()) for each in self._evidence)


def is_verified(question: Question, style: Style) -> bool:
    """Whether a verifier reads the answer. A model reads each hint, since rules do not know a result in words or a formula."""
    return profile_of(question.profile).verify or (style == "hint" and asks_model(question, "verify_answer"))


def prompt_of(
    question: Question,
    sentences: Sequence[Sentence],
    evidence: tuple[contracts.Evidence, ...],
    before: str = "",
    *,
    hints: bool = False,
) -> contracts.VerifyAnswer:
    """What the verifier is asked about these sentences. A model gets several with their numbers, and the sentence `before` them."""
    texts = [one.text for one in sentences]
    by_model = asks_model(question, "verify_answer")
    numbered = len(texts) > 1 and by_model
    answer = "\n".join(f"({n}) {text.strip()}" for n, text in enumerate(texts, 1)) if numbered else "".join(texts)
    return contracts.VerifyAnswer(
        question=question.text,
        before=before.strip() if before.strip() and by_model else UNSET,
        exercise=True if hints else UNSET,
        answer=answer,
        evidence=evidence,
        language=question.language,
    )


def weighed(
    question: Question, sentences: Sequence[Sentence], verdict: contracts.Verdict, *, hints: bool = False
) -> list[Sentence]:
    """The sentences after a verdict. A model's makes those that it contradicts unverified, and lifts the doubts of the rules from
    the others; of a hint, what it contradicts is withheld. A verdict of the rules moves none, since the gate has the same rules.
    """
    if not asks_model(question, "verify_answer"):
        return list(sentences)
    texts = [one.text for one in sentences]
    found = [(_place(one, texts), one) for one in verdict.contradictions]
    complete = len(found) < MOST_CONTRADICTIONS and all(at >= 0 for at, _ in found)
    kind: FlagKind = "unsupported" if hints else "unverified"
    return [_weighed(each, [one for at, one in found if at == n], complete, kind) for n, each in enumerate(sentences)]


def _weighed(sentence: Sentence, found: Sequence[contracts.Contradiction], complete: bool, kind: FlagKind) -> Sentence:
    if found:
        flags = tuple(
            on_wire(gate.flag(kind, one.claim, (), f"the verifier says {one.type}: {one.explanation}")) for one in found
        )
        return replace(sentence, flags=(*sentence.flags, *flags), withheld=standing(flags) == "withheld")
    kept = tuple(flag for flag in sentence.flags if flag.kind not in DOUBTS)
    return replace(sentence, flags=kept) if complete else sentence


def _place(found: contracts.Contradiction, texts: Sequence[str]) -> int:
    """The place of the sentence that a contradiction is about: by its number, else by its words; -1 if neither fits."""
    if len(texts) == 1 or 1 <= found.sentence <= len(texts):
        return 0 if len(texts) == 1 else found.sentence - 1
    return next((at for at, text in enumerate(texts) if found.claim.strip(" .…") in text), -1)


def flags_of(
    text: str,
    evidence: Sequence[contracts.Evidence],
    language: str,
    *,
    written: str | None = None,
    urls: Collection[str] = (),
    question: str = "",
) -> tuple[Flag, ...]:
    """The gate's flags for a sentence; an admission of uncertainty may deny and need not cite."""
    flags = check_sentence(text, evidence, language=language, written=written, urls=urls, question=question)
    return excused(text, tuple(map(on_wire, flags)))


def each_checked(text: str, request: AnswerRequested | Draft, cleaning: Cleaning) -> Iterator[Sentence]:
    """The sentences of a whole text, made harmless, with the gate's flags."""
    question, evidence = request.question, evidence_of(request.evidence)
    for written in in_sentences(text):
        sentence = cleaning.harmless(written)
        flags = flags_of(
            sentence, evidence, question.language, written=written, urls=cleaning.urls, question=question.asked
        )
        yield Sentence(text=sentence, flags=flags, withheld=any(flag.kind == "empty" for flag in flags))


def unread(sentence: Sentence) -> Sentence:
    """A sentence that the verifier was to check, and of which no verdict could be read."""
    why = gate.flag("unverified", sentence.text.strip(), (), "the verifier gave no verdict that could be read")
    return replace(sentence, flags=(*sentence.flags, on_wire(why)))


def on_wire(flag: gate.Flag) -> Flag:
    return Flag(**same_fields(flag, Flag))


def contradictions_of(verdict: contracts.Verdict, *, hints: bool = False) -> list[Contradiction]:
    """Those of the whole answer: a sentence of a hint is withheld alone, and the rest stays a hint."""
    return [] if hints else [Contradiction(**same_fields(each, Contradiction)) for each in verdict.contradictions]


def cited_in(text: str) -> set[int]:
    """The numbers in a text's markers; a translation must have the same ones."""
    return {number for marker in markers(text) for number in marker.numbers}


def _is_prose(text: str) -> bool:
    """Whether the text makes a claim to verify: headings and separators make none."""
    stripped = text.strip()
    return bool(stripped) and not stripped.startswith("#") and any(c.isalnum() for c in stripped)
