"""followups.toml: how a follow-up question points back, how a question names its subject, and how the name replaces a pronoun.

Every table is read in the conversation's own language. Case is ignored except where noted.
"""

import msgspec

from index.languages.tables.kinds import Patterns


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
    """All of followups.toml."""

    pointing: Pointing
    naming: Naming
    wording: Wording
