"""terms.toml: what the gate weighs besides numbers; words that deny, oblige, exclude each other, name, admit and limit.

Words and patterns meet text in the gate's normal form (lower case, one spelling of each letter) unless they say otherwise.
"""

from typing import Literal

import msgspec

from index.languages.tables.kinds import Pattern, Variants, Words

StandsAs = Literal["words", "stems", "characters"]


class Spelling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a term stands in a text.

    `words`: from the beginning of a word to its end. `stems`: a term begins a word and endings follow; forces may also stand
    inside one. `characters`: anywhere, as no spaces are written.
    """

    stands_as: StandsAs
    prefixes: Words  # what may be written onto the front of a term; tried in this order
    after_one_letter: str  # the letters that may follow a stem of one letter


class Circumfix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A negator in two parts with the verb between them, as in "ne … pas"."""

    opens: Pattern
    closes: Pattern


class Negation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The cues of negation, by where they stand from their scope, the words that they turn."""

    before: Pattern  # cues that turn what follows them, up to the end of the clause
    reach: int  # characters of that at most
    circumfix: Circumfix  # turns what it encloses, and what follows it as far as `reach`
    after: Pattern  # cues that turn what stands before them, as behind a verb
    words_back: int  # words that those turn at most, the first in part
    pseudo: Variants  # phrases with a cue in them that deny nothing
    ends: Pattern  # words that end a scope as punctuation does
    #: Over text as written, of whatever language: whether a question, or a sentence that may answer it, denies or excludes
    #: something. It stays beside the cues because it must find other words: those of exception ("besides", "sauf"), which turn
    #: no statement, and none that are rare in questions. With the cues in its place the refusals of SQuAD 2 lose .014 of F1.
    in_question: Pattern


class Denials(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a denial, or an absolute, that the evidence does not make is wrong by itself: `sweeping`."""

    sweeping: bool
    absolute: Variants  # what leaves no exception
    implied: Variants  # what denies without a negator; evidence that has one does deny something


class Forces(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What obliges, advises, permits, forbids and limits."""

    duty: Variants
    recommendation: Variants
    permission: Variants
    ban: Variants
    at_least: Variants
    at_most: Variants


class Exclusive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Terms of which only one can be true of a thing."""

    opposites: tuple[str, ...]  # a line a pair or more: sides with " / " between them, each Variants
    kinds: tuple[str, ...]  # a line a kind: its members with white space between them, each Variants


class Names(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names, where capital letters tell them; else all but `capitalised` is empty. Over text as written."""

    capitalised: bool
    joiners: Pattern  # words in lower case inside a name
    verbs: Pattern  # the first one ends the subject
    pronouns: Pattern
    leads: Pattern  # how what may stand before a pronoun at the start of a sentence begins
    unnamed: Pattern  # how a text begins that speaks of something without its name


class Predicates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sentences that say what a thing is; empty where no article tells them."""

    says_what: Pattern  # the verb and the article, up to the noun
    noun_ends: Pattern  # words that begin what the noun is of, in or for
    general: Words  # nouns too general to be wrong of anything


class Admissions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sentences that say that the answer is not known or not in the sources."""

    sources: Pattern
    says: tuple[Pattern, ...]  # SOURCES in one stands for `sources`
    goes_on: Pattern  # words after which a sentence claims something after all


class Audience(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words that tell whom a statement is for. Over text as written."""

    everybody: Pattern
    only_some: Pattern


class Layout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Labels of an answer, which state nothing. Over text as written, before a colon."""

    sources: Pattern  # of a line that names where the answer is from
    lead_ins: Pattern  # of a summary or a hint


class Terms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of terms.toml."""

    spelling: Spelling
    negation: Negation
    denials: Denials
    forces: Forces
    exclusive: Exclusive
    names: Names
    predicates: Predicates
    admissions: Admissions
    audience: Audience
    layout: Layout
