"""The shape of a language's folder: a module and a field of `Language` for each file, a Struct field for each table in it."""

import msgspec

from index.languages.tables.notices import Notices


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """A language: one field a file of its folder, in alphabetical order."""

    notices: Notices
