"""identity.toml: what a language is called, how it is written, and what tells it from others of its script."""

import msgspec

from index.languages.scripts import Script
from index.languages.tables.kinds import Text, Words


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of identity.toml."""

    name: Text  # in English
    own_name: Text  # as its speakers write it
    script: Script
    #: Lower-case words that most of its sentences have; read where languages share a script. Words of two languages tell nothing.
    function_words: Words
    beginnings: Words  # of words: what elision leaves of an article or a pronoun
    endings: Words  # of words: what contraction leaves of a verb
    analyzer: Text  # Anserini's name for its analyzer in Lucene
    encodings: Words  # Python's names for what its files are encoded in, besides UTF-8 and UTF-16
