"""Begin to load what a search needs of Java while all else is imported.

Java and the analyzers of Lucene take longest in opening an index. The threads import no module of ours and call Java alone:
msgspec builds a Struct's codec at its first use, and two threads that do so for the same one crash.
"""

import contextlib
import threading
from pathlib import Path

from index.errors import IndexProblem
from index.java import jvm
from index.java.analyzers import analyzer_of
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

    def load(language: str) -> None:
        """Analyze a word, for which a dictionary is loaded, outside Python's lock."""
        try:
            with contextlib.suppress(jvm.java_error()):
                queries.buildQuery("contents", analyzer_of(language), "a")
        finally:
            jvm.detach()

    for language in LANGUAGES:
        if language in languages:
            of(language)  # its tables, which are a Struct
            threading.Thread(target=load, args=(language,), name=f"warm-up-{language}").start()
