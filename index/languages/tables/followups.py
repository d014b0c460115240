"""followups.toml: how a follow-up question refers back, what a conversation is about, and how the two are combined.

Every table is read in the conversation's own language and may contain any word. Case is ignored except where noted.
"""

import msgspec

from index.languages.tables.kinds import Patterns, Text, Words


class Pointing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a question depends on what was said before, or introduces its own topic."""

    #: Words that refer to something said before. A group says how the subject replaces them: `possessive` with
    #: one of `Wording.genitives`, `bare` without its article, `kept` not at all; other words are simply replaced.
    pronouns: Patterns
    there: Patterns  # words for a place mentioned before
    places: Patterns  # a place with its preposition, as in the earlier questions; case counts
    about: Patterns  # "What about X?"; group `about` is X
    introduces: Patterns  # a question that introduces its own topic


class Topic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The noun phrase that a question is about. Words are folded: no accents, no case."""

    aspects: Words  # nouns that name an aspect, not a topic: "symptoms of myopia" is about myopia
    no_topic: Words  # verbs, adverbs and general adjectives that separate noun phrases
    predicates: Words  # words said about a topic after its name, never the end of the name
    capitals: bool  # whether a capital letter marks a name
    particles: bool  # whether the last word of a phrase may end in a particle, which is not part of the topic
    breaks: Patterns  # between noun phrases in a script without spaces; of these tables only `owner` is read then
    articles: Patterns  # at the end of the text before a noun phrase, to which they belong
    of: Patterns  # the word between an aspect and its topic
    joining: Patterns  # the whole text between two noun phrases that form one
    adjuncts: Patterns  # prepositions of place and time at the end of the text before a phrase, which is then seldom the topic
    elided: Patterns  # an elided word at the beginning of a word
    contracted: Patterns  # a contracted word at the end of a word
    adjectives: Patterns  # endings of adjectives that may stand before an aspect
    trailing: Patterns  # endings of words that are said about a topic and are not part of it
    verbs: Patterns  # endings of words that end a noun phrase
    owner: Patterns  # group `topic` is the owner in a phrase: "my brother's car" is about my brother


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to rewrite a question with the subject that it leaves out."""

    between: str  # between two subjects of one question, its spaces included
    definite: Patterns  # words before a noun that mark it as already mentioned
    the: str  # definite article before a subject that lacks one, its space included
    determiners: Patterns  # at the beginning of a subject; dropped where the context has its own
    adjunct: Patterns  # the end of a question from its last preposition; group `what` is what "and X?" replaces
    exchanged: Patterns  # articles, with their space, dropped when their noun is replaced
    asked_of: Patterns  # words before a noun that is asked for, and so not replaced
    genitives: tuple[tuple[str, str], ...]  # (end of the subject, what makes it a possessive); the first that fits
    alternations: tuple[tuple[str, str], ...]  # (particle after a closed syllable, the same after an open one)
    asks_of: Patterns  # a question about what something is, to which `added_of` adds the subject
    added_of: str  # names {body}, {subject}, {end}; {question} is {body} with {end}
    added: Text  # to any other question


class Followups(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of followups.toml."""

    pointing: Pointing
    topic: Topic
    wording: Wording
