r"""What is asked, and how: columns.toml, followups.toml, noise.toml and questions.toml.

questions.toml: how a question is recognised and split, and what the thing it asks for looks like.

The language of a question is not known when it is split, so most of these tables are read together, as one pattern of all
languages: their words must be unmistakable in every other language too. A word that is common in another language is entered
with the word that makes it clear (`cuáles son`, not `son`, which is French for `his`), with a `\b` at each end where words
have spaces between them, or not at all. `Things` is read only in the language of the question, and may contain any word.

Case is ignored except where noted.
"""

import msgspec

from index.languages.tables.kinds import Pattern, Patterns, Words


class Asks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How each kind of thing is asked for; read together. The first kind that matches wins, in this order."""

    reason: Patterns
    count: Patterns
    time: Patterns
    person: Patterns
    place: Patterns
    definition: Patterns
    manner: Patterns
    limit: Patterns  # a bound, a default, a size, a price
    yes_no: Patterns
    price: Patterns  # of no kind of its own: it is asked for as a count or a limit, as are the next
    phone: Patterns  # a telephone number
    address: Patterns  # a postal one
    duration: Patterns


class Things(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What each kind of thing looks like in a sentence; read in the language of the question."""

    reason: Patterns
    count: Patterns  # next to digits
    time: Patterns  # next to years in digits
    definition: Patterns
    manner: Patterns
    limit: Patterns  # next to digits
    yes_no: Patterns  # what denies, allows, demands or limits
    price: Patterns  # sums of money and what speaks of them; read together, as are the next
    free: Patterns  # no price
    address: Patterns
    duration: Patterns  # times and, since "how long" asks for both, lengths
    place: Patterns  # case counts
    name: Patterns  # next to capitalised words; case counts
    in_names: Words  # small words inside a capitalised name


class Clauses(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to split a question into parts; read together."""

    asks: Patterns  # found only in parts that ask something
    joining: Patterns  # conjunctions after a comma, which go with it
    breaks: Patterns  # other places between two parts, apart from commas and full stops
    weighs: Patterns  # a choice, advice to a person, a procedure: what one passage hardly answers
    facets: Patterns  # several facets of one thing, with groups `topic` and `list`
    between: Patterns  # what separates the facets of a list


class Comparison(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Questions that compare two things; read together."""

    compares: Patterns
    sides: Patterns  # each with groups `one` and `two`, the things compared; the first that matches counts
    #: One side that names what is compared and its owner, `topic` and `own`: "the fee at | A". The other side, only "B" or "at B",
    #: gets the topic. `owner`: what may stand before such a name.
    topics: Patterns
    owner: Patterns


class Exercises(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an exercise is told from a question about the course; read together, over folded text."""

    orders: Patterns  # at the beginning or the end of a sentence
    tasks: Patterns  # orders that count only where no word of `course` is
    asks: Patterns  # what only exercises say
    values: Patterns  # what is computed from given numbers
    course: Patterns  # rules and dates of a course, whose numbers are no data


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to cut off a question so that a phrase to search for remains; read together."""

    before: Patterns  # polite or linking words before the question
    opening: Patterns  # question words at the beginning, followed by a word boundary
    auxiliary: Patterns  # the verb after them, or at the beginning, with a pronoun behind it
    closing: Patterns  # question words at the end
    inside: Patterns  # question words in the place of the answer
    particle: Patterns  # a meaningless remainder at the end


class QuestionWording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words that say how something is asked, and not what about; read in the language of the question."""

    asking: Words
    light: Words  # cut out of a run of characters in this order, so that the things that a question names are left


class Questions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of questions.toml."""

    asks: Asks
    things: Things
    clauses: Clauses
    comparison: Comparison
    exercises: Exercises
    statement: Statement
    wording: QuestionWording


class Pointing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a question depends on earlier questions and answers."""

    #: Words that refer to something earlier. In a group, a name may replace them without harm to the grammar:
    #: `replaced` as it is, `possessive` with one of `Wording.genitives`.
    pronouns: Patterns
    opens: Patterns  # how a question begins, or is altogether, that goes on from the one before


class Naming(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a question names its subject."""

    names: Patterns  # a whole question that names its subject and asks nothing else; group `subject`
    marked: Patterns  # what shows that a subject is a name or a noun phrase; case counts; none: it never is certain


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a name is put in a pronoun's place."""

    genitives: tuple[tuple[str, str], ...]  # (end of the subject, what makes it a possessive); the first that fits
    alternations: tuple[tuple[str, str], ...]  # (particle after a closed syllable, the same after an open one)


class Followups(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """followups.toml: how a follow-up question points back, how a question names its subject, and how the name replaces a pronoun.

    Every table is read in the conversation's own language. Case is ignored except where noted.
    """

    pointing: Pointing
    naming: Naming
    wording: Wording


class Noise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """noise.toml: texts that contain words but neither asks nor answers anything.

    Patterns of greetings, thanks, abilities, tasks, sums, instructions and fillers match folded text.
    """

    greetings: Pattern
    thanks: Pattern
    abilities: Pattern  # a whole question about what the program can do, or which documents it has
    tasks: Pattern  # what asks for a new text, which needs a model
    summaries: Pattern  # the words in it that ask for a summary
    sums: Pattern  # what asks for the sum of one's own amounts, which stand in several places
    lists: Pattern  # what asks which documents are about something
    instructions: Pattern  # a sentence that asks its reader to do something
    fillers: Pattern  # words that add nothing, next to a greeting or alone
    keys: Words  # beginnings of words typed along a row of keys
    article_headings: Pattern  # the beginning of an article heading in a law or contract
    last_letters: str  # letters that end a sentence even without a full stop, for a character class
