"""Choose for a question in a conversation, and for one that asks several things: by readings of it, of which the surest counts.

A question in a conversation is read by itself and with the words of the conversation. Whether a short question needs what went
before often shows only in what the documents say. The words of the conversation decide between units that speak of what is asked;
they never stand in for it, unless the question itself points back.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from actors.choosing.asked import Asked, read_question
from actors.choosing.choose import Choice, choose
from actors.choosing.signs import KNOWN, Ranked, known
from actors.choosing.units import MOST
from actors.choosing.weights import shows
from actors.evidence.spans import share_held
from bus.wire.parts import Collection, Passage, Question
from index.languages import pattern, spoken

#: What the best unit must hold of the question itself, and each other one of what the best holds; a question that lacks the rest
#: is lifted by the conversation at least this far.
HALF: Final = 0.5


def choose_follow_up(
    question: Question,
    passages: Sequence[Passage],
    collection: Collection,
    synonyms: Mapping[str, Sequence[str]] | None = None,
) -> Choice | None:
    """As `choose`; with the words of the conversation where they make it surer and what is shown speaks of the question itself."""
    by_itself = replace(question, topic="")
    alone = choose(by_itself, passages, collection, synonyms)
    if alone is None or not question.topic:
        return alone
    within = choose(question, passages, collection, synonyms)
    if within is None or within.probability <= alone.probability:
        return alone
    asked = read_question(by_itself, collection)
    if not asked.terms or points_back(question):
        return within
    held = partial(_held, asked, passages)
    best = held(within.shown[0])
    if best < max(HALF, held(alone.shown[0])):
        return alone
    kept = [(each, lead) for each, lead in zip(within.shown, within.leads, strict=True) if held(each) >= HALF * best]
    lift = HALF + HALF * best
    return replace(
        within,
        shown=tuple(each for each, _ in kept),
        leads=tuple(lead for _, lead in kept),
        probability=alone.probability + lift * (within.probability - alone.probability),
    )


def points_back(question: Question) -> bool:
    """Whether a word of the question refers to what was said before, or it begins like one that goes on."""
    pointing = spoken(question.language).followups.pointing
    return any(pattern(words).search(question.text) for words in (pointing.opens, pointing.pronouns))


def _held(asked: Asked, passages: Sequence[Passage], each: Ranked) -> float:
    """The share of the question that a unit, its headings and its title hold in any form."""
    asked = asked.in_language(passages[each.unit.passage].language)
    said = each.read.bag | each.read.context
    return sum(weight for term, weight in asked.terms.items() if known(term, said) >= KNOWN) / asked.whole


def choose_parts(
    question: Question,
    parts: Sequence[str],
    passages: Sequence[Passage],
    collection: Collection,
    synonyms: Mapping[str, Sequence[str]] | None = None,
) -> Choice | None:
    """What to show for a question with these parts, each a statement to search for; as `choose` for a single one.

    A part of which nothing is sure is left out, and makes the whole less probable. What the question as a whole finds is shown
    where it is more probable and has the best of every part that is sure.
    """
    whole = choose_follow_up(question, passages, collection, synonyms)
    if whole is None or len(parts) < 2 or whole.compares:
        return whole
    most = MOST / len(parts)
    found = [
        choose(
            replace(question, text=part, topic=""),
            passages,
            collection,
            synonyms,
            most,
            ranks_for(part, passages),
        )
        for part in as_asked(question.text, parts)
    ]
    sure = [choice for choice in found if choice is not None and shows(choice.probability, question.voice)]
    if not sure:
        return whole
    mean = sum(choice.probability for choice in sure) / len(sure)
    probability = mean * math.sqrt(len(sure) / len(parts))
    shown_anyway = {each.unit.order for each in whole.shown}
    complete = len(sure) < 2 or all(choice.shown[0].unit.order in shown_anyway for choice in sure)
    if probability <= whole.probability and complete:
        return whole
    shown = {each.unit.order: (each, lead) for c in sure for each, lead in zip(c.shown, c.leads, strict=True)}
    return replace(
        whole,
        shown=tuple(each for each, _ in shown.values()),
        leads=tuple(lead for _, lead in shown.values()),
        probability=probability,
    )


def as_asked(text: str, parts: Sequence[str]) -> Iterator[str]:
    """Each part with the words that ask for it, which tell what kind of thing answers, if the question has it word for word."""
    done = 0
    for part in parts:
        start = text.find(part, done)
        yield text[done : start + len(part)].lstrip(" ,;，；،؛、") if start >= 0 else part
        done = max(done, start + len(part)) if start >= 0 else done


def ranks_for(part: str, passages: Sequence[Passage]) -> tuple[int, ...]:
    """The rank of each passage for one part, by how much of the part it holds: they were merged over all parts."""
    held = [share_held(part, f"{passage.title} {passage.text}") for passage in passages]
    order = sorted(range(len(passages)), key=lambda at: -held[at])
    return tuple(rank for _, rank in sorted((at, rank) for rank, at in enumerate(order)))
