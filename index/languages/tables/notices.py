"""notices.toml: the texts in place of an answer, or with one."""

import msgspec

from index.languages.tables.kinds import Text


class Reasons(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why there is no answer: one text for each reason, and two that name what is missing."""

    no_results: Text
    low_relevance: Text
    no_evidence: Text
    insufficient: Text
    insufficient_missing: Text  # names {missing}
    model_refused: Text
    model_refused_because: Text  # names {refuse_reason}
    citations_invalid: Text
    grounding_failed: Text
    timeout: Text
    model_unavailable: Text
    model_too_long: Text
    model_rejected: Text
    model_over_quota: Text
    model_malformed: Text


class Declined(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The direct reply to input that is not a question about the documents."""

    out_of_scope: Text
    greeting: Text
    unclear: Text
    policy: Text
    thanks: Text
    abilities: Text  # names {setup}: how a model is connected
    needs_model: Text  # names {setup}


class Replies(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Texts in place of an answer or after it."""

    empty_context: Text
    safe: Text
    safe_sources: Text  # names {ids}
    none_passes: Text  # names {filter}: no document passes it
    closest: Text  # nothing is claimed
    closest_passages: Text  # before the passages that come closest
    closest_languages: Text  # names {languages}: those of the documents that come closest
    no_hint: Text  # for an exercise that the documents do not treat
    cancelled: Text
    withdrawn: Text
    failed: Text
    content_refused: Text  # a model's reason, where it gave none
    overloaded: Text  # more questions than can be done
    conflict: Text
    conflict_outdated: Text  # in its place, where one of the sources is out of date
    conflict_value: Text  # names {value}, {source}
    conflict_value_outdated: Text  # names {value}, {source}


class NoticeLabels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Headings and lead-ins of an answer's layout, without punctuation."""

    source: Text
    summary: Text
    conclusion: Text
    arguments: Text


class Punctuation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    comma: Text  # between the items of an enumeration, its space included


class Notices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of notices.toml."""

    reasons: Reasons
    declined: Declined
    replies: Replies
    labels: NoticeLabels
    punctuation: Punctuation
