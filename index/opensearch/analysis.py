"""The terms of passages and questions, made by the same Lucene analyzers as the local index's. Needs the JVM."""

import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from index.java import jvm
from index.java.analyzers import analyzer_of

_terms = msgspec.json.Decoder(list[str]).decode


def terms(text: str, language: str) -> list[str]:
    """In order, with repeats."""
    analyze, json = _java()
    # All in one JSON text: reading each Java object separately would cost 20 µs a term.
    return _terms(json.writeValueAsString(analyze(_analyzer(language), text)))


def weights(text: str, language: str) -> Mapping[str, int]:
    """Each term of a question, and how often it occurs."""
    return Counter(terms(text, language))


@functools.cache
def _java() -> tuple[Any, Any]:
    jvm.start()
    return (
        jvm.java_class("io.anserini.analysis.AnalyzerUtils").analyze,
        jvm.java_class("com.fasterxml.jackson.databind.ObjectMapper")(),
    )


@functools.cache
def _analyzer(language: str) -> Any:
    """As in bm25.py."""
    jvm.start()
    return analyzer_of(language)
