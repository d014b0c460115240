"""headings.toml: how documents mark their sections."""

import msgspec

from index.languages.tables.kinds import Pattern, Words


class Headings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of headings.toml. The first three match the beginning of a line of plain text."""

    part: Pattern
    chapter: Pattern
    section: Pattern
    numbered_line: Pattern  # what begins a line of its own in a PDF: a numbered article
    style: Words  # what a word processor calls its heading styles, before their level
