"""privacy.toml: the words next to personal data, and the regions of its phone numbers."""

from typing import Annotated

import msgspec
from msgspec import Meta

from index.languages.tables.kinds import Pattern, Words
from index.languages.tables.numbers import Phrases


class Labels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words before a number that name its kind; folded. `other`: numbers that are nobody's own, such as an order's."""

    phone: Phrases
    account: Phrases
    passport: Phrases
    identity: Phrases
    other: Phrases


class Privacy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of privacy.toml."""

    regions: Annotated[
        Words, Meta(min_length=2)
    ]  # ISO 3166 codes of the regions with phone numbers that are known without a label
    at: Phrases  # how a mail address is spelled out: kim (at) example (dot) com
    dot: Phrases
    secrets: Phrases  # words before a password, a token or a key
    streets: Pattern  # a regular expression: a street with its number
    digits: Phrases = ""  # the letters for 0 to 9 in a number that is read out: 공일공-구팔칠육-오사삼이
    labels: Labels
