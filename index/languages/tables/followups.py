"""followups.toml: how a follow-up question refers back, what a conversation is about, and how the two are combined.

Every table is read in the conversation's own language and may contain any word. Case is ignored except where noted.
"""

import msgspec

from index.languages.tables.kinds import Patterns, Text, Words


class Pointing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a question depends on what was said before, or introduces its own topic."""

    #: Words that stand for something said before. A group says how the subject takes their place: `possessive` with
    #: one of `Wording.genitives`, `bare` without its article, `kept` not at all; other words are just replaced.
    pronouns: Patterns
    there: Patterns  # a place said before
    places: Patterns  # a place with its preposition, as the questions before have it; case counts
    about: Patterns  # "What about X?"; group `about` is X
    introduces: Patterns  # a question that brings its own topic along


class Topic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The noun phrase that a question is about. Words are folded: no accents, no case."""

    aspects: Words  # heads that name an aspect of a topic, not a topic: "symptoms of myopia" is about myopia
    no_topic: Words  # verbs, adverbs and general adjectives that break a run of words into noun phrases
    predicates: Words  # said of a topic after its name, never the end of one
    capitals: bool  # whether a capital letter tells a name
    particles: bool  # whether the last word of a phrase may end in a particle, which is no part of the topic
    breaks: Patterns  # between noun phrases, where no spaces are; of the tables of a topic only `owner` is read then
    articles: Patterns  # at the end of what stands before a noun phrase, to which they belong
    of: Patterns  # the word after an aspect that is about what follows
    joining: Patterns  # all that stands between two noun phrases which are one
    adjuncts: Patterns  # prepositions of where and when, at the end of what stands before a phrase; the talk is seldom about it
    elided: Patterns  # at the beginning of a word: a shortened word before it
    contracted: Patterns  # at the end of a word: a shortened word after it
    adjectives: Patterns  # endings of adjectives that may stand before an aspect
    trailing: Patterns  # endings of words that are said of a topic and not part of it
    verbs: Patterns  # endings of words that end a noun phrase
    owner: Patterns  # group `topic` is what the rest of a phrase belongs to: "my brother's car" is about my brother


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a question is written anew with the subject that it leaves out."""

    between: str  # subjects of one question, its spaces included
    definite: Patterns  # words before a noun which say that it is the one spoken of
    the: str  # definite article before a subject that lacks one, its space included
    determiners: Patterns  # at the beginning of a subject, dropped where the words around it have their own
    adjunct: Patterns  # the end of a question from its last preposition; group `what` is what "and X?" exchanges
    exchanged: Patterns  # articles, with their space, that go when their noun is exchanged
    asked_of: Patterns  # what stands before a noun that is asked for and not exchanged
    genitives: tuple[tuple[str, str], ...]  # (end of the subject, what makes it a possessive); the first that fits
    alternations: tuple[tuple[str, str], ...]  # (particle after a closed syllable, the same after an open one)
    asks_of: Patterns  # a question of what something is, to which `added_of` adds the subject
    added_of: str  # names {body}, {subject}, {end}; {question} is {body} with {end}
    added: Text  # to any other question


class Followups(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of followups.toml."""

    pointing: Pointing
    topic: Topic
    wording: Wording
