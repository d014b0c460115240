"""Every threshold of the evidence: its value, its meaning, and the figure that it affects."""

from typing import Final

# ---- conflicts found, false conflicts

#: Two sentences are compared when they share this many content words.
SHARED_WORDS: Final = 4
#: Both have this share of the content words of the two.
ALIKE_SHARE: Final = 0.5
#: The same where each has a content word that the other lacks.
REWORDED_SHARE: Final = 0.6
#: The same within one document, where similar sentences are mostly about different things.
ALIKE_SHARE_IN_DOCUMENT: Final = 0.9
#: Share of the nearest words on each side of the value that both have.
VALUE_CONTEXT_SHARE: Final = 0.4
#: At most this many conflicts are shown: more would bury the answer.
CONFLICTS: Final = 3
#: Longest subject of a conflict.
CONFLICT_SUBJECT_CHARS: Final = 80
#: A statement with fewer content words is not compared.
STATEMENT_WORDS: Final = 3
#: Statements with a smaller share of common rough terms are not about the same thing.
ROUGHLY_ALIKE_SHARE: Final = 0.3
#: This many content words on each side of a value identify what it measures.
AMOUNT_CONTEXT_WORDS: Final = 4
#: A sentence with more amounts is a list or a table.
AMOUNTS: Final = 64
#: Longest word, with its space, that makes a number a name.
NAMING_WORD_CHARS: Final = 40
#: Four digits from the first to below the second number are a year.
YEARS: Final = (1000, 2200)
#: Share of the words of the longer statement that both have in the same order.
NEAR_COPY_SHARE: Final = 0.6
#: Longest stretch that replaces another.
REPLACED_CHARS: Final = 40
#: Both stretches may share this many words: "Duke of Kent", "Earl of Essex".
COMMON_WORDS: Final = 1
#: Two words with this ratio of equal letters are forms of one word.
SPELLING_RATIO: Final = 0.75
#: Fewest content words that both have, where the difference is a name or a noun,
NAME_CONTEXT_WORDS: Final = 5
#: and where it is not.
TURN_CONTEXT_WORDS: Final = 3
#: Share of the words in which both agree, where they differ in a name or a noun.
NAME_AGREEMENT_SHARE: Final = 0.75
#: Characters of the statement shown on each side of the word that sets its scope.
SCOPE_CHARS: Final = 24
#: A sentence names a document when it has this share of the words of its title.
TITLE_NAMED_SHARE: Final = 0.8
#: Share of the words of the shorter title that both have, where a sentence names a document by its year.
TITLE_SUBJECT_SHARE: Final = 0.5
#: The shortest file name that names a document in a sentence.
FILE_NAME_CHARS: Final = 6

# ---- answers on real documentation

#: A span with fewer characters grows
SHORT_SPAN_CHARS: Final = 80
#: to about this many.
FULL_SPAN_CHARS: Final = 120
#: A pick with fewer characters counts only in the passage that it names.
SURE_PICK_CHARS: Final = 20
#: A pick that is not in its passage, nor nearly, stands for the unit with this share of its rough terms, else for all of it.
LIKE_SHARE: Final = 0.5
#: A list or table joins its introduction up to this length; its first item or row always does.
LIST_SPAN_CHARS: Final = 800
#: Longest stretch selected where no pick is usable.
WINDOW_CHARS: Final = 400
#: Longest heading shown with a span.
HEADING_CHARS: Final = 200
#: A sentence repeats a longer one when it has this share of its words in the same order.
REPEATED_SHARE: Final = 0.8
