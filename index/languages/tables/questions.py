"""questions.toml: how a question is recognised and taken apart, and what the thing that it asks for looks like.

Nobody says which language a question is in when it is taken apart, so most of these tables are read together, as one pattern of
all languages: their words must be unmistakable in every other language too. A word that is common in another language goes in with
the word that makes it clear (`cuáles son`, not `son`, which is French for `his`), with a `\\b` at each end where words have spaces
between them, or not at all. `Things` is read in one language only, that of the question, and may hold any word.

Case does not count but where it says so.
"""

import msgspec

from index.languages.tables.kinds import Patterns, Words


class Asks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How each kind of thing is asked for; read together. The first kind that matches counts, in this order."""

    reason: Patterns
    count: Patterns
    time: Patterns
    person: Patterns
    place: Patterns
    definition: Patterns
    manner: Patterns


class Things(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What each kind of thing looks like in a sentence; read in the language that the question asks in."""

    reason: Patterns
    count: Patterns  # beside digits
    time: Patterns  # beside years in digits
    definition: Patterns
    manner: Patterns
    place: Patterns  # case counts
    name: Patterns  # beside capitalised words; case counts
    in_names: Words  # small words inside a name of capitalised words


class Clauses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a question falls into parts; read together."""

    asks: Patterns  # what only a part that asks something has
    joining: Patterns  # conjunctions after a comma, which go with it
    breaks: Patterns  # other places between two parts, beside commas and full stops


class Comparison(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Questions that compare two things; read together."""

    compares: Patterns
    sides: Patterns  # each with groups `one` and `two`, the things compared; the first that matches counts


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is cut off a question so that a phrase to search for is left; read together."""

    before: Patterns  # said before the question for politeness or as a link
    opening: Patterns  # asking words at the beginning, after which a word ends
    auxiliary: Patterns  # the verb after them, or at the beginning, with a pronoun behind it
    closing: Patterns  # asking words at the end
    inside: Patterns  # asking words that stand where the answer would
    particle: Patterns  # what then remains at the end and means nothing


class Questions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of questions.toml."""

    asks: Asks
    things: Things
    clauses: Clauses
    comparison: Comparison
    statement: Statement
