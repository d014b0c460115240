"""Begin what takes longest in opening an index, Java and its analyzers, while all else is imported.

The threads import no module of ours and call Java alone: msgspec builds a Struct's codec at its first use, and two threads
that do so for the same one crash.
"""

import contextlib
import threading
from pathlib import Path

from index.errors import IndexProblem
from index.java import jvm
from index.languages import LANGUAGES, of


def begin(index: Path, *, brief: bool) -> None:
    """Start Java, for a short life or not, and load what a search of that index needs; the search itself reports problems."""
    try:
        snapshot = (index / "current").read_text(encoding="utf-8").strip()
        languages = {path.name for path in (index / "snapshots" / snapshot / "lucene").iterdir()}
        jvm.start(brief=brief)
    except (OSError, UnicodeDecodeError, IndexProblem):
        return
    queries = jvm.java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
    analyzer_of = jvm.java_class("io.anserini.analysis.AnalyzerMap").getLanguageSpecificAnalyzer

    def load(analyzer: str) -> None:
        """Analyze a word, for which a dictionary is loaded, outside Python's lock."""
        try:
            with contextlib.suppress(jvm.java_error()):
                queries.buildQuery("contents", analyzer_of(analyzer), "a")
        finally:
            jvm.detach()

    for language in LANGUAGES:
        if language in languages:
            analyzer = of(language).identity.analyzer
            threading.Thread(target=load, args=(analyzer,), name=f"warm-up-{language}").start()
