"""A search in every language of an index as one call of Java, put together from its method handles.

From Python a search takes three calls a language (bm25.py), and their cost is half of Lucene's own work.
To put them together takes 60 ms once in a process, so it pays where many searches follow.

Threads: pyjnius keeps the object that a method was last asked of with the method, and nothing else keeps what came from another
call. So one thread at a time puts together, and a later call has a name that outlives it.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from index.java import jvm

_ALONE = threading.Lock()
_TEXT, _OBJECT, _LUCENE = "Ljava/lang/String;", "Ljava/lang/Object;", "Lorg/apache/lucene/"


def composed(
    queries: Any, json: Any, sort: Any, readers: Sequence[tuple[Any, Any]]
) -> Callable[[Sequence[str], int], str]:
    """What takes a text for each reader and how many passages are wanted, and returns all results as a JSON list.

    `queries` makes a query of a text, with the analyzer of its reader; its searcher finds and sorts. `json` writes.
    """
    with _ALONE:
        result = _handle(queries, json, sort, readers)

    def call(texts: Sequence[str], k: int) -> str:
        wanted = [*texts, str(k)]  # not among the arguments: see bm25.py on threads
        return str(result.invokeWithArguments(*wanted))

    return call


def _handle(queries: Any, json: Any, sort: Any, readers: Sequence[tuple[Any, Any]]) -> Any:
    """The handle of all of it; takes a text for each reader, and how many as a text."""
    handles = jvm.java_class("java.lang.invoke.MethodHandles")
    make = _method(queries, "buildQuery", f"({_TEXT}{_LUCENE}analysis/Analyzer;{_TEXT}){_LUCENE}search/Query;")
    make = handles.insertArguments(make, 0, "contents")
    number = _static("java.lang.Integer", "parseInt", f"({_TEXT})I")
    two_texts = _type(f"({_TEXT}{_TEXT}){_OBJECT}")
    objects, count = _class("[Ljava.lang.Object;"), len(readers)
    result = handles.identity(objects).asCollector(objects, count)
    for position in reversed(range(count)):
        analyzer, searcher = readers[position]
        search = _method(
            searcher, "search", f"({_LUCENE}search/Query;I{_LUCENE}search/Sort;){_LUCENE}search/TopFieldDocs;"
        )
        search = handles.insertArguments(search, 2, sort)
        search = handles.filterArguments(search, 1, number)  # a call from Python passes texts alone
        search = handles.collectArguments(search, 0, handles.insertArguments(make, 0, analyzer))
        result = handles.collectArguments(result, position, search.asType(two_texts))
    order = [argument for position in range(count) for argument in (position, count)]
    result = handles.permuteArguments(result, _type(f"({_TEXT * count}{_TEXT})[{_OBJECT}"), *order)
    write, of_all = _method(json, "writeValueAsString", f"({_OBJECT}){_TEXT}"), _type(f"([{_OBJECT}){_TEXT}")
    return handles.filterReturnValue(result, write.asType(of_all))


def _method(instance: Any, name: str, descriptor: str) -> Any:
    """The handle of an object's method."""
    kind, described = instance.getClass(), _type(descriptor)
    lookup = jvm.java_class("java.lang.invoke.MethodHandles").publicLookup()
    return lookup.findVirtual(kind, name, described).bindTo(instance)


def _static(kind: str, name: str, descriptor: str) -> Any:
    owner, described = _class(kind), _type(descriptor)
    lookup = jvm.java_class("java.lang.invoke.MethodHandles").publicLookup()
    return lookup.findStatic(owner, name, described)


def _class(name: str) -> Any:
    return jvm.java_class("java.lang.Class").forName(name)


def _type(descriptor: str) -> Any:
    loader = jvm.java_class("java.lang.ClassLoader").getSystemClassLoader()
    return jvm.java_class("java.lang.invoke.MethodType").fromMethodDescriptorString(descriptor, loader)
