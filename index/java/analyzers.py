"""The analyzers of Lucene for each language, as Anserini chooses them."""

from typing import Any

from index.java import jvm
from index.languages import LANGUAGES, of


def analyzer_of(language: str) -> Any:
    """A text in no known language is split at white space and punctuation, unstemmed."""
    english = jvm.java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
    if language not in LANGUAGES:
        return english.newNonStemmingInstance(jvm.java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET)
    others = jvm.java_class("io.anserini.analysis.AnalyzerMap")
    name = of(language).identity.analyzer
    return (
        others.getLanguageSpecificAnalyzer(name)
        if others.analyzerMap.containsKey(name)
        else english.newDefaultInstance()
    )
