"""columns.toml: the words for what a column of a table holds, in questions and in column names alike.

A single character of Chinese or Korean counts only as the whole name of a column.
"""

import msgspec

from index.languages.tables.kinds import Variants


class Columns(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What columns hold; the same in every language."""

    code: Variants
    name: Variants
    currency: Variants
    capital: Variants
    telephone: Variants
    domain: Variants
    language: Variants
    population: Variants
    continent: Variants
    region: Variants
    country: Variants
    place: Variants
    date: Variants
    start: Variants
    end: Variants
    year: Variants
    time: Variants
    duration: Variants
    price: Variants
    pay: Variants
    share: Variants
    status: Variants
    minimum: Variants
    maximum: Variants
    average: Variants
    default: Variants
    type: Variants
    format: Variants
    description: Variants
    use: Variants
    example: Variants
    version: Variants
    area: Variants
    licence: Variants
    size: Variants
    number: Variants
    limit: Variants
    temperature: Variants
    person: Variants
    port: Variants
    unit: Variants
    symbol: Variants
    command: Variants
    key: Variants
    address: Variants
    reason: Variants
    purpose: Variants
    required: Variants
