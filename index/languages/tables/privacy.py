"""privacy.toml: the words beside personal data, and where its phone numbers are from."""

from typing import Annotated

import msgspec
from msgspec import Meta

from index.languages.tables.kinds import Words
from index.languages.tables.numbers import Phrases


class Labels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words that stand before a number and say what it is; folded. `other`: numbers that are nobody's own, such as an order's."""

    phone: Phrases
    account: Phrases
    passport: Phrases
    identity: Phrases
    other: Phrases


class Privacy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of privacy.toml."""

    regions: Annotated[
        Words, Meta(min_length=2)
    ]  # ISO 3166 codes of the regions whose phone numbers are known without a label
    at: Phrases  # how a mail address is spelled out: kim (at) example (dot) com
    dot: Phrases
    labels: Labels
