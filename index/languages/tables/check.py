"""check.toml: the texts of the page that shows a checked text beside the documents."""

import msgspec

from index.languages.tables.kinds import Text


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of check.toml."""

    title: Text  # names {name}, the file that was checked
    text: Text  # what the side with the checked text is called
    documents: Text  # what the side with the documents' words is called
    page: Text  # names {page}
    verified: Text  # the verdicts
    contradicted: Text
    unverified: Text
    not_covered: Text
