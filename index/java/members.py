"""The members of Java's classes that a search uses, declared for pyjnius.

pyjnius otherwise looks through each class, and the classes above it, when it meets the class: that took .4 s of each start.
"""

from typing import Any

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
