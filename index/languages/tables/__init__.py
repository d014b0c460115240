"""The shape of a language's folder: one field of `Language` per file, one Struct field per table in it.

A table that is read by key is a dict; the keys of FALLBACK's are those that every language has.
"""

import msgspec

from index.languages.tables.kinds import Texts, Variants
from index.languages.tables.numbers import Numbers, Privacy
from index.languages.tables.questions import Followups, Noise, Questions
from index.languages.tables.terms import Terms
from index.languages.tables.texts import Check, Phrases, SourcePage
from index.languages.tables.words import Grammar, Headings, Identity, Search, Sentences


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A language: one field per file of its folder, in alphabetical order."""

    check: Check
    columns: dict[str, Variants]  # what columns of tables hold: words of questions and of their heads alike
    followups: Followups
    headings: Headings
    identity: Identity
    noise: Noise
    notices: Texts  # the texts in place of an answer, or with one
    numbers: Numbers
    page: Texts  # the texts of the page that the edge serves
    phrases: Phrases
    privacy: Privacy
    questions: Questions
    search: Search
    sentences: Sentences
    source: SourcePage
    terms: Terms
    words: Grammar
