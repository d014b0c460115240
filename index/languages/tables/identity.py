"""identity.toml: the name of a language, its script, and what distinguishes it from others in that script."""

import msgspec

from index.languages.scripts import Script
from index.languages.tables.kinds import Text, Words


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of identity.toml."""

    name: Text  # in English
    own_name: Text  # as its speakers write it
    script: Script
    #: Lower-case words found in most sentences; used where languages share a script. A word of two languages decides nothing.
    function_words: Words
    beginnings: Words  # of words: what remains of an elided article or pronoun
    endings: Words  # of words: what remains of a contracted verb
    analyzer: Text  # Anserini's name for its Lucene analyzer
    encodings: Words  # Python's names for its usual encodings, besides UTF-8 and UTF-16
