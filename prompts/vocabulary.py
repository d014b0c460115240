"""The closed vocabularies of Groundwire: every set of words from which a message, a prompt, a profile or a flag picks one.

They are defined only here. `bus` imports nothing else from `prompts`, and this module imports only the languages.
"""

from typing import TYPE_CHECKING, Final, Literal, get_args

from index.languages import LANGUAGES

if TYPE_CHECKING:
    #: One of LANGUAGES, which are known only once the folders of `index/languages` are read.
    Language = str
else:
    Language = Literal[LANGUAGES]

Speaker = Literal["user", "assistant"]

# What a request may ask for.
Style = Literal["simple", "report", "synthesis", "structured", "hint"]
Release = Literal["sentence", "draft", "token"]
EventsWanted = Literal["default", "all"]
OnDisconnect = Literal["continue", "cancel"]
#: The reader of the answer: a person now, or a program later.
Urgency = Literal["interactive", "batch"]  # the more urgent first
#: How sure an answer must be to be shown as one.
Voice = Literal["strict", "helpful"]

# How a run ends.
Outcome = Literal["answered", "closest", "refused", "declined", "failed", "cancelled"]
Reason = Literal[
    "no_results",
    "low_relevance",
    "no_evidence",
    "insufficient",
    "model_refused",
    "citations_invalid",
    "grounding_failed",
    "timeout",
    "model_unavailable",
    "model_too_long",
    "model_rejected",
    "model_over_quota",
    "model_malformed",
]
#: Why nothing of a run was run: more was asked than can be done, or the client gave up before the question was stored.
Unrun = Literal["overloaded", "withdrawn", "invalid"]
#: Why a text ends before its end: it has as many tokens as were asked for.
Cut = Literal["length"]
DeclinedKind = Literal["out_of_scope", "greeting", "unclear", "policy", "thanks", "abilities", "needs_model"]
Confidence = Literal["high", "medium", "low"]

# What the judges, the gate and the verifier say.
IntentKind = Literal["in_scope", "edge_case", "out_of_scope", "greeting", "unclear"]
QueryType = Literal["simple", "complex"]
#: What a model may call a question; an exercise only where the profile asks for it.
QueryKind = Literal["simple", "complex", "exercise"]
FlagKind = Literal[
    "citation_out_of_range",
    "fabricated_number",
    "fabricated_quote",
    "reversed_term",
    "unsupported",
    "fabricated_address",
    "repeated_prompt",
    "thinking",
    "empty",
    "uncited",
    "low_overlap",
    "wrong_language",
    "unverified",
]
FlagStrength = Literal["strong", "weak"]
ContradictionType = Literal[
    "direct_negation", "numeric_conflict", "intent_core_mismatch", "nuance", "unsupported_claim"
]
Severity = Literal["critical", "minor"]
ConflictKind = Literal["value", "date", "scope", "wording"]

# How an engine is asked.
Priority = Literal["answer", "check", "judge", "background"]  # the most urgent first
ReasoningEffort = Literal["minimal", "low", "medium", "high"]

DECLINED: Final[tuple[DeclinedKind, ...]] = get_args(DeclinedKind)
STYLES: Final[tuple[Style, ...]] = get_args(Style)
VOICES: Final[tuple[Voice, ...]] = get_args(Voice)
RELEASES: Final[tuple[Release, ...]] = get_args(Release)
PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)
URGENCIES: Final[tuple[Urgency, ...]] = get_args(Urgency)
