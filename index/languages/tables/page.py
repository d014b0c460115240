"""page.toml: the texts of the page that the edge serves."""

import msgspec

from index.languages.tables.kinds import Text


class Sure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sure an answer is, as a whole phrase."""

    high: Text
    medium: Text
    low: Text


class Checks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the check of a shown answer found, by the names of the re-gate."""

    clean: Text
    caution: Text
    low_confidence: Text


class Flags(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a sentence was withheld, by the kinds of flags; with a colon at the end the words in question follow."""

    citation_out_of_range: Text
    fabricated_number: Text
    fabricated_quote: Text
    reversed_term: Text
    unsupported: Text
    fabricated_address: Text
    repeated_prompt: Text
    thinking: Text
    empty: Text
    uncited: Text
    low_overlap: Text
    wrong_language: Text
    unverified: Text
    other: Text  # of a kind that the page does not know


class Stages(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The work of a stage, by its name."""

    classify_intent: Text
    rewrite_query: Text
    classify_query: Text
    decompose_query: Text
    open_lanes: Text
    retrieve: Text
    judge_relevance: Text
    judge_sufficiency: Text
    select_evidence: Text
    answer: Text  # every stage that writes one
    guard_language: Text
    verify_answer: Text
    settle_answer: Text
    stream_answer: Text
    stream_references: Text
    other: Text  # a stage that the page does not know


class Page(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Labels, headings and states of the page; outcomes and confidences under their own names."""

    language: Text  # of the page
    lead: Text  # what the page is for
    question: Text
    profile: Text
    voice: Text  # label of the next two
    strict: Text  # show an answer only if it is certain
    helpful: Text  # show the best answer
    key: Text  # that the service asks for
    ask: Text
    stop: Text
    answer: Text
    no_answer: Text  # in place of `answer`, above a text without claims
    passages: Text  # heading over the closest passages
    nearby: Text  # heading over the same below an answer that is not sure
    missing: Text  # before the words of the question that a passage lacks
    in_document: Text  # show a passage where it is in its document
    references: Text
    withheld: Text  # heading over the sentences that did not pass
    unverified: Text  # heading over the sentences that go beyond their sources
    unverified_mark: Text  # of such a sentence in the answer
    working: Text
    done: Text
    again: Text  # the connection was lost
    version: Text  # of a source, before its number
    recognized: Text  # of a source with text recognised in pictures
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
    skip: Text  # link to the question box, for the keyboard
    past: Text  # heading over the list of conversations
    past_none: Text
    new: Text  # conversation
    more: Text  # of the list
    rename: Text  # a conversation
    remove: Text  # from the list
    remove_note: Text  # the question before that
    export: Text
    conversation: Text
    follow_up: Text  # in the empty box, once there was an answer
    enter: Text  # which keys ask and start a line
    close: Text
    citation_n: Text  # names {n}: what a marker does
    page_n: Text  # names {n}
    original: Text  # link to where the source is published
    whole: Text  # link to the page of the source
    found: Text  # names {n}: how many passages
    queued: Text  # names {n}: the position of the question that waits
    stopped: Text  # the state after the person stopped it
    ready: Text
    stopped_note: Text  # next to an answer that was stopped
    copy: Text
    copy_markdown: Text
    copied: Text
    not_copied: Text
    judged_right: Text  # a person's verdict on an answer
    judged_wrong: Text
    reason: Text  # why it is wrong: the label of a box
    send: Text
    noted: Text  # the verdict is kept
    holds: Text  # names {n} and {languages} of the documents
    examples: Text  # heading over questions that the documents ask themselves
    documents: Text  # heading over titles
    all_documents: Text  # link to the list of them
    search: Text
    folder: Text
    type: Text  # of files
    all: Text  # no choice among folders, types or languages
    only_here: Text  # ask over one document or folder
    only_in: Text  # before its name
    everywhere: Text  # take that limit away
    of_documents: Text  # names {n} and {all}
    read_at: Text  # names {day}
    skipped: Text  # names {n}
    unanswered: Text  # names {n}: questions
    stages_link: Text  # link to the page of the run
    stages_title: Text
    back: Text
    outcome: Text
    asked_at: Text
    took: Text
    first_word: Text
    model: Text
    tokens: Text
    snapshot: Text
    fallback: Text  # before the failure for which a stage did without the model
    prompt_system: Text
    prompt_user: Text
    reply: Text
    hits: Text
    sentences: Text
    unused: Text
    took_message: Text
    gave_message: Text
    remembered: Text  # of a reply that was not asked for again
    changed_since: Text  # of a prompt
    sure: Sure
    checks: Checks
    flags: Flags
    stages: Stages
