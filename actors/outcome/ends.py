"""The end of a run without an answer: its code for programs, its words for people."""

from msgspec import UNSET

from bus.wire.messages import Settled
from index.languages.detection import detect
from prompts import notices


def code_of(settled: Settled) -> str:
    if settled.unrun == "invalid":
        return settled.code or "invalid"
    if settled.unrun is not UNSET:
        return "overloaded" if settled.unrun == "overloaded" else "unavailable"
    return settled.reason or ("cancelled" if settled.outcome == "cancelled" else "internal")


def words_of(settled: Settled) -> str:
    """The words for the person, in the language of the question."""
    if settled.unrun == "invalid":
        return settled.detail  # for a program: the same sentence as over HTTP
    language = settled.language or detect(settled.question)
    if settled.outcome == "cancelled":
        return notices.cancelled(language)
    if settled.reason is not None:
        return notices.reason_text(settled.reason, language)
    if settled.unrun == "overloaded":
        return notices.overloaded(language)
    return notices.failed(language)
