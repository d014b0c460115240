"""page.toml: the texts of the page that the edge serves."""

import msgspec

from index.languages.tables.kinds import Text


class Page(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Labels, headings and states of the page; outcomes and confidences under their own names."""

    language: Text  # of the page
    lead: Text  # what the page is for
    question: Text
    profile: Text
    key: Text  # that the service asks for
    ask: Text
    stop: Text
    answer: Text
    no_answer: Text  # in place of `answer`, over what is said when nothing is claimed
    passages: Text  # heading over the closest passages
    references: Text
    withheld: Text  # heading over the sentences that did not pass
    sources: Text  # heading over what retrieval found
    stages: Text  # heading over the stages and their times
    working: Text
    done: Text
    again: Text  # the connection was lost
    citation: Text  # the target of a marker
    version: Text  # of a source, before its number
    recognized: Text  # of a source whose text was read from pictures
    away: Text  # the service cannot be reached
    answered: Text
    closest: Text
    refused: Text
    declined: Text
    failed: Text
    cancelled: Text
    confidence: Text
    high: Text
    medium: Text
    low: Text
