"""terms.toml: what the gate checks besides numbers: words that deny, oblige, exclude each other, name, admit and limit.

Words and patterns match text in the gate's normal form (lower case, one spelling of each letter) unless they say otherwise.
"""

from typing import Literal

import msgspec

from index.languages.tables.kinds import Pattern, Variants, Words

StandsAs = Literal["words", "stems", "characters"]


class Spelling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How terms appear in a text.

    `words`: from the beginning of a word to its end. `stems`: a term begins a word and endings follow; forces may also
    occur inside one. `characters`: anywhere, since there are no spaces.
    """

    stands_as: StandsAs
    prefixes: Words  # what may be attached to the front of a term; tried in this order
    after_one_letter: str  # the letters that may follow a stem of one letter


class Circumfix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A negator in two parts with the verb between them, as in "ne … pas"."""

    opens: Pattern
    closes: Pattern


class Negation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The cues of negation, by their position relative to their scope (the words that they negate)."""

    before: Pattern  # cues that negate what follows them, up to the end of the clause
    reach: int  # at most this many characters
    circumfix: Circumfix  # negates what it encloses, and what follows it as far as `reach`
    after: Pattern  # cues that negate what comes before them, such as those after a verb
    words_back: int  # at most this many words before those, the first one in part
    pseudo: Variants  # phrases that contain a cue but deny nothing
    ends: Pattern  # words that end a scope as punctuation does
    shares: Pattern  # words that join one more thing to what is negated: "not A or B"
    #: Over text as written, of any language: whether a question, or a sentence that may answer it, denies or excludes
    #: something. It stays with the cues because it must find other words: those of exception ("besides", "sauf"), which turn
    #: no statement, and none that are rare in questions. With the cues in its place the refusals of SQuAD 2 lose .014 of F1.
    in_question: Pattern
    #: Of a heading: what is below it is denied, forbidden or left out.
    in_heading: Pattern
    #: Of a cell, or in a question, over folded text: something has not been done yet.
    pending: Pattern


class Denials(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a denial or an absolute that the evidence does not make is wrong in itself: `sweeping`."""

    sweeping: bool
    absolute: Variants  # words that allow no exception
    implied: Variants  # words that deny without a negator; evidence with one of them does deny something


class Forces(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What obliges, advises, permits, forbids, leaves the choice and limits."""

    duty: Variants
    recommendation: Variants
    permission: Variants
    ban: Variants
    choice: Variants  # that there is no duty
    at_least: Variants
    at_most: Variants


class Exclusive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Terms of which only one can be true of a thing."""

    opposites: tuple[str, ...]  # one line per pair or more: sides separated by " / ", each Variants
    kinds: tuple[str, ...]  # one line per kind: members separated by white space, each Variants


class Names(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names, where capital letters show them; otherwise everything but `capitalised` is empty. Matches text as written."""

    capitalised: bool
    joiners: Pattern  # words in lower case inside a name
    verbs: Pattern  # the first one ends the subject
    pronouns: Pattern
    leads: Pattern  # beginnings of what may precede a pronoun at the start of a sentence
    unnamed: Pattern  # beginnings of a text that does not name its subject


class Predicates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sentences that say what a thing is; empty where no article shows them."""

    says_what: Pattern  # the verb and the article, up to the noun
    noun_ends: Pattern  # words that begin a complement of the noun (of, in, for)
    general: Words  # nouns too general to be wrong about anything


class Copies(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What changes the claim of a sentence that is otherwise copied, and what does not."""

    #: One line per group: sides separated by " / ", each Variants, of which only one was written.
    changes: tuple[str, ...]
    reservations: Variants  # a copy that adds or leaves out one of these claims more or less than its source
    hedges: Variants  # the same, but a copy may add one: it claims less
    same: tuple[Variants, ...]  # words for one thing
    nouns_after: Pattern  # the word before a noun: articles and prepositions
    adjectives_follow: bool  # whether that word is followed by the noun itself, not by its adjective
    noun: Pattern  # how a noun itself looks, where its form shows it
    never_nouns: Pattern  # words that are none, whatever precedes them
    polite: Pattern = ""  # letters within a word that only make it polite
    points_back: Pattern  # the word before a noun that replaces a name: "the company"
    joins: Pattern  # separators of an enumeration, besides commas


class Admissions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sentences that say that the answer is not known or not in the sources."""

    sources: Pattern
    says: tuple[Pattern, ...]  # SOURCES in one is replaced by `sources`
    goes_on: Pattern  # words after which a sentence makes a claim after all


class Audience(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words that name the people that a statement applies to. Matches text as written."""

    everybody: Pattern
    only_some: Pattern


class Standing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a document declares another no longer in force. Matches text as written."""

    replaces: Pattern  # in a sentence that names the other document
    all: Pattern  # in a sentence with `replaces`: all earlier documents of that name are meant
    amends: Pattern  # in the title or path of a document that changes parts of another
    ended: Pattern  # in a text that declares its own end
    retired: Pattern  # in a title that declares it
    shelved: Pattern  # whole words in the path of a copy that another document of about that name replaces
    draft: Pattern  # in a title or path of what another document of that name replaces
    final: Pattern  # in a title or path of what replaces its drafts, which may have no other word for it
    traces: Pattern  # what may be in a food although it is no part of it
    withdraws: Pattern  # what ends something that another document promises
    moves: Pattern  # in a text that moves, changes or cancels what another one has announced


class Layout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words of the form of an answer, which make no claim. Matches text as written, labels before a colon."""

    sources: Pattern  # of a line that names the source of the answer
    lead_ins: Pattern  # of a summary or a hint
    marks: Pattern  # before the number of a citation, within its brackets
    answers: Pattern  # yes and no, at the beginning of an answer


class Addresses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words for the marks of an address, and for data that no answer should ask for."""

    dots: Words
    ats: Words
    endings: Words  # top-level domains in the language's own script
    secrets: Pattern  # what a person keeps secret, from the beginning of a word


class Terms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of terms.toml."""

    spelling: Spelling
    negation: Negation
    denials: Denials
    forces: Forces
    exclusive: Exclusive
    names: Names
    predicates: Predicates
    copies: Copies
    admissions: Admissions
    audience: Audience
    standing: Standing
    layout: Layout
    addresses: Addresses
