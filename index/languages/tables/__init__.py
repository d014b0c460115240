"""The shape of a language's folder: one module and one field of `Language` per file, one Struct field per table in it."""

import msgspec

from index.languages.tables.check import Check
from index.languages.tables.columns import Columns
from index.languages.tables.followups import Followups
from index.languages.tables.headings import Headings
from index.languages.tables.identity import Identity
from index.languages.tables.noise import Noise
from index.languages.tables.notices import Notices
from index.languages.tables.numbers import Numbers
from index.languages.tables.opposites import Opposites
from index.languages.tables.page import Page
from index.languages.tables.phrases import Phrases
from index.languages.tables.privacy import Privacy
from index.languages.tables.questions import Questions
from index.languages.tables.search import Search
from index.languages.tables.sentences import Sentences
from index.languages.tables.source import SourcePage
from index.languages.tables.terms import Terms
from index.languages.tables.words import Grammar


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A language: one field per file of its folder, in alphabetical order."""

    check: Check
    columns: Columns
    followups: Followups
    headings: Headings
    identity: Identity
    noise: Noise
    notices: Notices
    numbers: Numbers
    opposites: Opposites
    page: Page
    phrases: Phrases
    privacy: Privacy
    questions: Questions
    search: Search
    sentences: Sentences
    source: SourcePage
    terms: Terms
    words: Grammar
