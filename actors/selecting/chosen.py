"""The rules' choice for a question: the request that rests on it, or the end of the run when the rules are not sure.

Also: why a probable choice of the rules is no answer: its language, a side or subject that was not found, the profile's scope.
"""

from collections.abc import Sequence
from operator import mul
from typing import Literal

import msgspec
from msgspec import UNSET

from actors.choosing.aliases import in_one_name
from actors.choosing.asked import Asked, kind_of, named_sides, unsaid
from actors.choosing.choose import Choice, by_place, choice_in, choice_of, lead_of, statistics
from actors.choosing.features import FEATURES
from actors.choosing.follow_ups import choose_parts
from actors.choosing.signs import Ranked, lacks_name
from actors.choosing.units import units_of
from actors.choosing.weights import BELOW_HIGH, BELOW_MEDIUM, HIGH, SHOWN_ABROAD_FROM, shows, weights
from actors.evidence import spans
from actors.evidence.conflicts import conflicts_in, opposing
from actors.evidence.lanes import is_foreign
from actors.evidence.owners import known, of_another
from actors.evidence.prompt_evidence import chunks_of
from actors.evidence.standing import each_of_its_year, out_of_date
from actors.outcome.closest import closest, near_passages
from actors.outcome.refusals import decline
from actors.question.exercise import is_exercise
from actors.question.profile import profile_of
from actors.question.resolved import as_read, asks_model
from bus.journal.records import ChoiceRecord, Considered
from bus.wire.messages import AnswerRequested, AnswerSettled, PassagesReady
from bus.wire.parts import Passage, Question, Span
from index.languages import LANGUAGES, union
from index.languages.characters import fold
from prompts import contracts, notices
from prompts.profiles import first_match
from prompts.vocabulary import Reason, Style


def in_one_language(question: Question, choice: Choice, passages: tuple[Passage, ...]) -> Choice:
    """The choice without what is in other languages than the question, with its own probability, if anything is left."""
    own = [each for each in choice.shown if not is_foreign(question, passages[each.unit.passage])]
    if not own or len(own) == len(choice.shown):
        return choice
    return choice_of(choice.asked, choice.ranked, own, passages)


def misses(message: PassagesReady, read: Sequence[Passage]) -> bool:
    """Whether one side of a comparison was not found, or these passages of a consultation are silent about it or the subject."""
    sides, profile = sides_of(message), profile_of(message.question.profile)
    if any(aspect in side or side in aspect for aspect in message.missing for side in sides):
        return True
    if not profile.safety_advice:
        return False
    texts = [f"{passage.title} {' '.join(passage.headings)} {passage.text}" for passage in read]
    named, *said = (in_one_name(text, profile.synonyms) for text in (message.question.text, *texts))
    return any(unsaid(each, said, only_first=message.complex and not sides) for each in sides or (named,))


def sides_of(message: PassagesReady) -> tuple[str, ...]:
    """The two things that the question compares, under the names that the searches used."""
    question = message.question
    return named_sides(in_one_name(question.text, profile_of(question.profile).synonyms))


def is_outside(question: Question) -> bool:
    """Whether rules alone place the question outside: the profile lists subjects, and it names none of them."""
    profile = profile_of(question.profile)
    words = (*profile.scope_words("in_scope"), *profile.scope_words("edge_scope"))
    return bool(words) and not asks_model(question, "classify_intent") and not first_match(words, question.text)


_SUMS = union(lambda language: language.noise.sums)
#: Answers of these forms explain step by step, so they are shown in the order of their document.
EXPLAINED = ("definition", "manner", "reason")
#: How many of the best units a run's record keeps, and of each the features that matter most to its score.
UNITS_KEPT, FEATURES_KEPT = 10, 3
#: A passage near an answer is listed if a unit of it has this part of the best unit's share. Of 314 answers on development sets
#: whose confidence is medium, 43 are wrong, of which 23 have the right passage in a list of five; in one of those with .05, 21.
LIKELY_BESIDE = 0.05
#: A model reads so many passages, and twice as many for a question of several parts: in 40 runs, what answers was never below the
#: sixth. It is told of a choice of the rules from this probability on: of less probable ones, most were wrong.
MOST_READ, SUGGESTED_FROM = 8, 0.5


def candidates(message: PassagesReady) -> tuple[Passage, ...]:
    """The passages to choose among; those that a judge rejected come last."""
    return (*message.passages, *message.near)


def chosen(message: PassagesReady, passages: tuple[Passage, ...]) -> Choice | None:
    """The choice of the rules; None where the passages hold nothing that can be read."""
    synonyms = profile_of(message.question.profile).synonyms
    parts = [a.sub_query_statement for a in message.analyses if not a.sub_query_id.startswith("sq_add_")]
    question = message.question
    if message.complex and synonyms:
        question = msgspec.structs.replace(question, text=in_one_name(question.text, synonyms))
    collection = message.collection
    if question.contexts is not None:
        collection = statistics((question.text, question.topic, *parts), units_of(passages))
    choice = choose_parts(question, parts, passages, collection, synonyms)
    if choice is None or asks_model(message.question, "select_evidence"):
        return choice
    return in_one_language(message.question, choice, passages)


def choice_record(
    message: PassagesReady, passages: tuple[Passage, ...], choice: Choice, *, ends: bool = False
) -> ChoiceRecord:
    """What the run's record keeps of the choice: no text, at most about 2 kB. `ends`: the run ends with it.

    Near an exercise there may be its solution.
    """
    weighing, shown = by_place(weights()), {each.unit.order for each in choice.shown}
    best = []
    for each in choice.ranked[:UNITS_KEPT]:
        added = list(map(mul, weighing, each.values))
        sizes = list(map(abs, added))
        most = sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)[:FEATURES_KEPT]
        unit, why = each.unit, {FEATURES[at]: round(added[at], 1) for at in most if sizes[at] >= 0.05}
        best.append(Considered(unit.passage, unit.start, unit.end, round(each.share, 3), unit.order in shown, why))
    sure = ends or style_of(message) == "hint" or (choice.probability >= HIGH and choice.clear)
    likely = () if sure else best_of_each(choice, passages, LIKELY_BESIDE * choice.ranked[0].share)
    near = near_passages(message.question, passages, likely, only_best=True)
    without_text = tuple(msgspec.structs.replace(each, text="") for each in near)
    return ChoiceRecord(probability=round(choice.probability, 4), best=tuple(best), near=without_text)


def best_of_each(choice: Choice, passages: tuple[Passage, ...], least: float = 0.0) -> list[spans.Slice]:
    """Of each passage, best first, the sentence or row that answers most likely, and no line of a mail's head; only of passages
    that have a unit with such a share.
    """
    best: dict[int, Ranked] = {}
    for each in (choice.shown[0], *(one for one in choice.ranked if one.share >= least)):
        known = best.setdefault(each.unit.passage, each)
        if known.unit.kind == "definition" != each.unit.kind:
            best[each.unit.passage] = each
    return [(at, *_best_in(choice.asked, each, passages[at])) for at, each in best.items()]


def _best_in(asked: Asked, each: Ranked, passage: Passage) -> tuple[int, int]:
    if each.unit.kind == "table_row":
        return each.unit.start, each.unit.end
    return lead_of(asked.in_language(passage.language), each.read)


def unsure(message: PassagesReady, passages: tuple[Passage, ...], choice: Choice) -> AnswerSettled | None:
    """The end of the run with the closest passages, when it is not probable enough that the choice answers."""
    question = message.question
    known = set(message.collection.languages) & {*LANGUAGES}
    foreign = bool(known) and question.language not in known
    profile = profile_of(question.profile)
    enough = shows(choice.probability, question.voice, advises=bool(profile.safety_advice))
    sure = choice.probability >= SHOWN_ABROAD_FROM if foreign else enough
    hints = style_of(message) == "hint"
    if hints and shows(choice.probability, "helpful"):
        return None
    shown = [passages[each.unit.passage] for each in choice.shown]
    if question.contexts is None and is_foreign(question, passages[0]):  # nearer than any in the question's language
        sure = sure and any(is_foreign(question, passage) for passage in shown)
    if profile.one_language and all(is_foreign(question, passage) for passage in shown):
        foreign, sure, known = True, False, {passage.language for passage in shown}
    if sure and not (needed(question) or hints or misses(message, passages if message.complex else shown)):
        return None
    named = in_one_name(question.text, profile.synonyms)
    far = max(spans.share_held(named, p.text + " " + p.title) for p in passages) < profile.retrieval.low_relevance
    if far and is_outside(question):
        return decline(question, "out_of_scope")
    return closest(
        message,
        "insufficient" if message.missing else "low_relevance" if far else "no_evidence",
        passages,
        best=best_of_each(choice, passages),
        notice=notices.text("replies", "no_hint", question.language) if hints else needed(question),
        missing=message.missing,
        probability=choice.probability,
        languages=tuple(sorted(known)) if foreign else (),
    )


def unasked(
    message: PassagesReady, passages: tuple[Passage, ...], choice: Choice, *, decides: bool
) -> AnswerRequested | AnswerSettled | None:
    """What follows without asking for evidence: the end where the rules decide and are not sure; where a model decides, the
    rules' choice if its probability suffices to the profile."""
    if not decides:
        return unsure(message, passages, choice)
    sure = choice.probability > profile_of(message.question.profile).retrieval.sure_from
    return rested_on(message, passages, choice) if sure else None


def to_model(message: PassagesReady, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """The passages that a model reads: the first ones."""
    return passages[: MOST_READ * 2 if message.complex else MOST_READ]


def suggestions(
    question: Question, passages: tuple[Passage, ...], choice: Choice, *, decides: bool
) -> dict[contracts.PickedSpan, spans.Slice]:
    """What the rules chose, as the prompt has it; where a model `decides`, only what is probable, and not out of date."""
    if decides and choice.probability < SUGGESTED_FROM:
        return {}
    old = out_of_date(passages, question.text) if decides else {}
    return {
        contracts.PickedSpan(passage=at + 1, text=passages[at].text[start:end]): (at, start, end)
        for at, start, end in choice.slices()
        if at < len(passages) and passages[at].source_id not in old
    }


def prompt_of(
    question: Question, passages: tuple[Passage, ...], suggested: tuple[contracts.PickedSpan, ...]
) -> contracts.SelectEvidence:
    return contracts.SelectEvidence(
        original_query=as_read(question),
        retrieved_chunks=chunks_of(passages, to_model=question.has_model),
        suggested=suggested,
        language=question.language,
        today=question.today or UNSET,
    )


def rested_on(message: PassagesReady, passages: tuple[Passage, ...], choice: Choice) -> AnswerRequested:
    """The request for an answer from what the rules chose; its confidence is not high if others are nearly as likely, and low
    without a name of the question.
    """
    evidence = numbered(message, passages, choice, choice.slices())
    highest = BELOW_MEDIUM if lacks_name(choice.asked, choice.shown) else 1.0 if choice.clear else BELOW_HIGH
    probable = min(choice.probability, highest)
    return requested(message, with_leads(evidence, passages, choice.leads), probable)


def quoting(message: PassagesReady, passages: tuple[Passage, ...], parts: list[spans.Slice]) -> AnswerRequested:
    """The request for an answer that quotes these stretches, which nothing was chosen from."""
    return requested(message, with_leads(spans.numbered(passages, parts), passages, parts))


def picked(
    message: PassagesReady, passages: tuple[Passage, ...], choice: Choice, slices: list[spans.Slice]
) -> AnswerRequested:
    """The request for an answer from what a model picked, with the probabilities of that, not of what the rules chose.

    The confidence is not high where rules find that the passages miss a side or the subject.
    """
    evidence = numbered(message, passages, choice, slices)
    of_all = choice_in(choice, evidence, passages)
    if of_all is None:
        return requested(message, evidence)
    read = passages if message.complex else [passages[at] for at, *_ in slices]
    highest = BELOW_HIGH if misses(message, read) else 1.0
    of_each = [choice_in(choice, [span], passages) for span in evidence]
    evidence = tuple(
        msgspec.structs.replace(span, probability=UNSET if own is None else min(own.probability, highest))
        for span, own in zip(evidence, of_each, strict=True)
    )
    return requested(message, with_leads(evidence, passages, of_all.leads), min(of_all.probability, highest))


def numbered(
    message: PassagesReady, passages: tuple[Passage, ...], choice: Choice, slices: list[spans.Slice]
) -> tuple[Span, ...]:
    """The numbered spans; the best one, which is in the first slice, is first unless its document's order matters."""
    evidence = spans.numbered(passages, slices)
    if choice.compares or kind_of(message.question.text) in EXPLAINED:
        return evidence
    at, start, _ = slices[0]
    return spans.best_first(evidence, passages[at], start)


def with_leads(
    evidence: tuple[Span, ...], passages: tuple[Passage, ...], leads: Sequence[spans.Slice]
) -> tuple[Span, ...]:
    """The spans, each with the sentence of it that answers."""
    for at, start, end in leads:
        evidence = spans.with_lead(evidence, passages[at], start, end)
    return evidence


def unanswerable(message: PassagesReady) -> AnswerSettled:
    """The closest passages, or the refusal that fits: the missing aspects if judges named any, else that nothing was found."""
    if not message.passages and not message.near and is_outside(message.question):
        return decline(message.question, "out_of_scope")
    searched = any(analysis.judged for analysis in message.analyses)
    reason: Reason = "no_evidence" if message.passages or searched else "no_results"
    notice = needed(message.question)
    if message.passages and not message.missing and asks_model(message.question, "select_evidence"):
        notice = notice or notices.reason_text(reason, message.question.language)  # a model found that none answers
    return closest(
        message,
        "insufficient" if message.missing else reason,
        candidates(message),
        notice=notice,
        missing=message.missing,
    )


def needed(question: Question) -> str:
    """The words that a model is needed, where the question asks for a new text, or that no sum is made; else empty."""
    if question.needs_model:
        return notices.declined_text("needs_model", question.language)
    return notices.text("replies", "no_sum", question.language) if _SUMS.search(fold(question.text)) else ""


def style_of(message: PassagesReady) -> Style:
    question = message.question
    kind: Literal["simple", "complex"] = "complex" if message.complex and not question.earlier else "simple"
    style = profile_of(question.profile).style(kind, question.style)
    return "hint" if is_exercise(question) else style


def requested(message: PassagesReady, evidence: tuple[Span, ...], probability: float | None = None) -> AnswerRequested:
    """The request, with the contradictions of other passages added to the evidence, and what one of them replaces last."""
    evidence = (*evidence, *opposing(evidence, message.passages, message.question.text))
    old = out_of_date(message.passages, message.question.text)
    conflicts = conflicts_in(evidence, old, message.passages)
    if outdated := {one.outdated_n for one in conflicts} - {0}:
        evidence = spans.put_last(evidence, lambda span: span.n in outdated)
        conflicts = conflicts_in(evidence, old, message.passages)
    of = {span.n: span for span in evidence}
    documents = known((*evidence, *message.passages)) if conflicts else {}

    def apart(one: Span, other: Span) -> bool:
        asked = message.question.text
        return each_of_its_year(one, other, asked) or of_another(one.source_id, other.source_id, documents, asked)

    return AnswerRequested(
        style=style_of(message),
        question=message.question,
        evidence=evidence,
        analyses=message.analyses,
        conflicts=tuple(one for one in conflicts if not apart(of[one.first_n], of[one.second_n])),
        snapshot=message.snapshot,
        rounds=message.rounds,
        probability=probability,
    )
