"""Every threshold of the gate: its value, its meaning, and the figure that it affects.

A heading names the figure in docs/figures.md that changes with the values below it. docs/reference.md shows this file as a table.
"""

from typing import Final

# ---- lies shown and true sentences withheld, by the lying engine

#: A citation is misplaced when the cited evidence has at most this share of the sentence's words,
MISPLACED_CITED_SHARE: Final = 0.6
#: and evidence that is not cited has at least this share.
MISPLACED_OTHER_SHARE: Final = 0.85
#: A heading, label or question with this many words that the evidence lacks counts as a claim.
LABEL_WORDS: Final = 4
#: A sentence with fewer letters is too short for its language to be checked.
LANGUAGE_LETTERS: Final = 12
#: Opening quotation marks in a row count up to this depth.
QUOTE_DEPTH: Final = 8
#: A quotation of at most this many words, all of them in the evidence, may be a term or a title.
TERM_WORDS: Final = 4
#: With more than this share of capitalised words, it may be a title.
TITLE_SHARE: Final = 0.6

# ---- claims of FEVER and KorNLI, contradicted and supported

#: A word without its last letters, this many at most, is the root of its forms.
ROOT_SPARE_LETTERS: Final = 3
#: The length of the runs of characters that sentence and evidence share, by script.
CHARACTER_RUNS: Final = {"": 9, "han": 3, "hangul": 5, "arabic": 7}
#: Evidence with more characters than this says no more by its length.
EVIDENCE_MOST: Final = 1000
#: A sentence is foreign, and a number that only it has is made up, when no sentence of its evidence has more of its words;
CLOSEST_SENTENCE_SHARE: Final = 0.3
#: a cited one gets a strong flag when all evidence together has at most this share,
FOREIGN_SHARE: Final = 0.2
#: if no sentence of the evidence is this near to it in meaning,
NEAR_MEANING: Final = 0.35
#: and it has at least this many content words.
CITED_WORDS: Final = 2
#: A flag lists at most this many of the missing words.
LISTED_WORDS: Final = 6
#: A table cell with more words is no label, so its row is no header.
CELL_LABEL_WORDS: Final = 4
#: With this share of its content words in one sentence of the evidence, a sentence retells that one;
RETOLD_SHARE: Final = 0.5
#: below the share, it is compared with this many sentences.
NEAREST_SENTENCES: Final = 3
#: The least letters of a Korean word that another one with other endings begins with.
KOREAN_ROOT_LETTERS: Final = 2
#: A dropped negation counts from this share of common content words.
SAME_SUBJECT_SHARE: Final = 0.4
#: A sentence is compared as a copy with this many sentences of the evidence.
COPY_CANDIDATES: Final = 3
#: A label before a colon is at most this long.
LEAD_LABEL_CHARS: Final = 60
#: The evidence leaves out its subject within this many characters.
SUBJECT_CHARS: Final = 120
#: Names with this many equal first letters are forms of one name: China and Chinese.
NAME_ROOT_LETTERS: Final = 4
#: Initials of consecutive words have at least and at most this many letters: ASSR.
INITIALS_LETTERS: Final = (2, 6)
#: A shorter name of the evidence is not offered as the right one.
OTHER_NAME_CHARS: Final = 4

# ---- changed numbers withheld, true sentences withheld

#: Another number takes the place of the sentence's when it shares this much of the surrounding words,
NUMBER_PLACE_SHARE: Final = 0.7
#: and this much more than the same number does.
NUMBER_PLACE_MARGIN: Final = 0.15
#: or this much, where the same number alone would take the place.
NUMBER_RIVAL_MARGIN: Final = 0.2
#: A number that the evidence lacks contradicts a sentence in which at most this many other words, such as its unit, are new.
NUMBER_SPARE_WORDS: Final = 1
#: A number was cut in the middle when the whole number shares this much of the surrounding words.
CUT_NUMBER_SHARE: Final = 0.8
#: A bare number up to this one may count or number things,
BARE_NUMBER: Final = 9
#: and one between these may be a year.
YEARS: Final = (1500, 2100)
#: The evidence may list up to this many things without their number.
COUNTED_NUMBER: Final = 10
#: A bound covers numbers up to this many times as large: "more than ten" does not cover ten thousand.
BOUND_FACTOR: Final = 10.0
#: A number is a bound by words within this many characters before it,
BOUND_BEFORE_CHARS: Final = 24
#: or within this many after it.
BOUND_AFTER_CHARS: Final = 16

# ---- seconds of the gate for a long list of numbers or addresses

#: At most this many different numbers of a sentence are compared by place; of the rest, whether the evidence has them.
COMPARED_NUMBERS: Final = 64
#: An address is looked for at this many occurrences within longer names.
ADDRESS_OCCURRENCES: Final = 200

# ---- injected instructions and addresses withheld

#: A telephone number has at least this many digits,
PHONE_DIGITS: Final = 9
#: or this many where it begins with +, ( or 0.
MARKED_PHONE_DIGITS: Final = 7
#: Sentences are compared with the prompts by runs of this many words.
PROMPT_RUN_WORDS: Final = 4
#: A sentence repeats instructions when this many of its runs are in them,
PROMPT_RUNS: Final = 2
#: and this share of all its runs.
PROMPT_RUN_SHARE: Final = 0.5

# ---- subtle lies withheld, true copies withheld

#: A sentence is a copy when one sentence of the evidence has this share of its words in the same order;
COPY_SHARE: Final = 0.75
#: Korean words carry their particles, so this share is enough.
COPY_SHARE_HANGUL: Final = 0.6
#: Two changes with this many unchanged Chinese characters between them are one.
MERGED_HAN_CHARS: Final = 1
#: The same for words between two parts of a sentence that changed places.
MERGED_TURNED_WORDS: Final = 8
#: A change at a cut end replaces at most this many words more than it has.
CUT_SPARE_WORDS: Final = 2
#: A copy with fewer common words,
SHORT_COPY_WORDS: Final = 8
#: from a sentence more than this many times as long, is a short copy.
SHORT_COPY_RATIO: Final = 2
#: A replacement of at most this many words is about the words around it.
REPLACED_WORDS: Final = 4
#: An addition or omission of at most this many words is about the words around it.
ADDED_WORDS: Final = 2
#: A duty or permission stands in the evidence as well when as many content words follow it there.
FORCED_WORDS: Final = 3
#: In a larger change, two terms need not correspond.
SWAPPED_WORDS: Final = 8
#: A replaced stretch of Chinese has at least this many characters,
HAN_CHANGED_FEWEST: Final = 2
#: and at most this many.
HAN_CHANGED_MOST: Final = 10
#: With more replaced content words, a sentence is a retelling.
NOUN_WORDS: Final = 5
#: The replaced words are at most this many more than the replacement.
NOUN_SPARE_WORDS: Final = 4
#: Names are compared in a copy with this share of common words,
NAME_COPY_SHARE: Final = 0.75
#: other nouns with this share.
NOUN_COPY_SHARE: Final = 0.85
#: Words with this many equal first letters are forms of one word.
WORD_ROOT_LETTERS: Final = 4
