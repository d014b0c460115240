"""Profiles: what a service answers about, how it writes, how strict it is. One TOML file each; users can add their own.

`load` reads the file, merges it over the one it extends, and rejects unknown keys and values with the nearest valid name.
"""

import functools
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from index.filters import Filter
from index.languages import LANGUAGES, union
from index.languages.characters import HAN, HANGUL, normal
from index.languages.toml_check import nearest, problems
from prompts.vocabulary import Language, QueryType, ReasoningEffort, Release, Style, Voice

AgentName = Literal[
    "classify_intent",
    "rewrite_query",
    "classify_query",
    "decompose_query",
    "judge_relevance",
    "judge_sufficiency",
    "select_evidence",
    "answer_simple",
    "answer_report",
    "answer_synthesis",
    "answer_structured",
    "answer_hint",
    "verify_answer",
    "guard_language",
]
Text = Annotated[str, msgspec.Meta(max_length=1000)]
Word = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Depth = Annotated[int, msgspec.Meta(ge=1, le=100)]
Tokens = Annotated[int, msgspec.Meta(ge=16, le=8192)]

BUILT_IN = Path(__file__).with_name("profiles")
#: The built-in profiles that are made for one use.
ONE_USE = frozenset(("myopia", "support", "tutor"))


class ProfileError(ValueError):
    """A profile that cannot be used. The message has one line per problem: the file, the key, the remedy."""


class AgentOverride(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a profile or a setting changes for one prompt; None keeps the prompt file's own value."""

    temperature: Annotated[float, msgspec.Meta(ge=0.0, le=2.0)] | None = None
    max_tokens: Tokens | None = None
    model: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    reasoning_effort: ReasoningEffort | None = None
    rules: Annotated[tuple[Text, ...], msgspec.Meta(max_length=20)] = ()  # added to the prompt, in plain language


class Scope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words by category. If all three are empty, every subject is admitted."""

    in_scope: dict[str, tuple[Word, ...]] = {}
    edge_scope: dict[str, tuple[Word, ...]] = {}
    out_of_scope: dict[str, tuple[Word, ...]] = {}


class Retrieval(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is retrieved, and how little is too little."""

    k: Depth = 13  # passages after fusion
    bm25_k: Depth = 10
    vector_k: Depth = 10
    rerank: bool = True  # all of both by the reranker, if the settings name one, before k of them are kept
    #: Share (0..1) of the question's content words, weighted by rarity, that the best passage must hold.
    #: Below it the run is refused with `low_relevance`.
    low_relevance: Share = 0.15
    sub_queries: Annotated[int, msgspec.Meta(ge=1, le=5)] = 5  # the most searches for a complex question
    sure_from: Share = 1.0  # with a higher probability the rules choose the evidence, and no model is asked for it
    added_sub_queries: Annotated[int, msgspec.Meta(ge=1, le=3)] = 3  # the most that a second round adds


class Answers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be shown as an answer. Without a `voice` the setting `answers.voice` decides."""

    voice: Voice | None = None  # how sure an answer must be
    unverified: Literal["mark", "withhold"] = "mark"  # what becomes of sentences that go beyond their sources


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`simple_style` and `complex_style` choose the answering agent; with `hint_exercises` an exercise gets a `hint`."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")]
    description: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    languages: Annotated[tuple[Language, ...], msgspec.Meta(min_length=1)] = LANGUAGES
    default_language: Language
    role: Text = ""  # the field and its readers, in a sentence that every prompt gets
    scope: Scope = Scope()
    simple_style: Style = "simple"
    complex_style: Style = "report"
    release: Release = "sentence"
    retrieval: Retrieval = Retrieval()
    answers: Answers = Answers()
    filter: Filter | None = None  # of the documents; a request's fields take the place of these
    second_round: bool = True
    verify: bool = True
    verifier_numeric_promote: bool = False
    must_cite: bool = True
    max_tokens: Tokens = 600  # of a structured or hint answer, unless the request sets it
    max_answer_chars: Annotated[int, msgspec.Meta(ge=0, le=20_000)] = 0  # 0: no limit
    synonyms: dict[Word, tuple[Word, ...]] = {}  # other names of things; searched for and read as the same
    safety_advice: dict[Language, Text] = {}
    policy_words: dict[Language, tuple[Word, ...]] = {}
    safe_reply: dict[Language, Text] = {}  # to a policy word; a language left out uses the general one from its notices
    hint_exercises: bool = False
    one_language: bool = False  # no sentence in another language; without a model, no answer from evidence in one
    mask_personal_data: bool = False
    agents: dict[AgentName, AgentOverride] = {}

    def scope_words(self, kind: Literal["in_scope", "edge_scope", "out_of_scope"]) -> tuple[str, ...]:
        """One scope list without its categories, in file order, as the intent prompt takes it."""
        lists: dict[str, tuple[str, ...]] = getattr(self.scope, kind)
        return tuple(dict.fromkeys(word for words in lists.values() for word in words))

    def policy_word(self, text: str) -> str:
        """The policy word that `text` contains, in any language; empty for none."""
        return first_match((word for words in self.policy_words.values() for word in words), text)

    def style(self, query_type: QueryType, asked: Style | None = None) -> Style:
        """The answering style for a question that is no exercise: `asked`, or else by type."""
        return asked or (self.simple_style if query_type == "simple" else self.complex_style)


def names(folder: Path | None = None) -> tuple[str, ...]:
    """All profiles, sorted: the built-in ones and those in `folder`."""
    return tuple(sorted({path.stem for place in _places(folder) for path in place.glob("*.toml")}))


def load(name: str, folder: Path | None = None) -> Profile:
    """The profile with that name; one in `folder` takes precedence over a built-in one. Raises: ProfileError."""
    path = find(name, folder)
    raw, found = read(path, folder)
    if found:
        raise ProfileError("\n".join(f"{path}: {problem}" for problem in found))
    return msgspec.convert(raw, Profile, strict=True)


def find(name: str, folder: Path | None = None) -> Path:
    """The file of a profile. Raises: ProfileError, with the nearest existing name."""
    for place in _places(folder):
        path = place / f"{name}.toml"
        if name == Path(name).name and path.is_file():
            return path
    raise ProfileError(f"there is no profile '{name}'{nearest(name, names(folder))}; see `groundwire profiles list`")


#: A key of a whole profile, not of one of its tables.
_MISSING = re.compile(r"\w+: is missing")


def read(path: Path, folder: Path | None = None) -> tuple[dict[str, Any], list[str]]:
    """A profile file merged over those it extends, and its problems, one line each; none means it is usable."""
    try:
        raw = _layers(path, folder, ())
    except ProfileError as problem:
        return {}, [str(problem)]
    inherit = ', or write `extends = "general"` to take what is missing from there'
    found = [f"{each}{inherit}" if _MISSING.fullmatch(each) else each for each in problems(raw, Profile)]
    if not found:
        found = _disagreements(msgspec.convert(raw, Profile, strict=True))
    return raw, found


def _places(folder: Path | None) -> tuple[Path, ...]:
    return (folder, BUILT_IN) if folder is not None else (BUILT_IN,)


def _layers(path: Path, folder: Path | None, seen: tuple[Path, ...]) -> dict[str, Any]:
    if path in seen:
        raise ProfileError(f"extends: {' -> '.join(p.stem for p in (*seen, path))} goes round in a circle")
    raw = _toml(path)
    if raw.setdefault("name", path.stem) != path.stem:
        raise ProfileError(f"name: is '{raw['name']}' but the file is called {path.name}; leave the key out")
    base_name = raw.pop("extends", None)
    if base_name is None:
        return raw
    if not isinstance(base_name, str):
        raise ProfileError("extends: expected the name of a profile")
    # A file that extends its own name means the built-in one.
    try:
        base = find(base_name, None if base_name == path.stem else folder)
    except ProfileError as problem:
        raise ProfileError(f"extends: {problem}") from problem
    below = _layers(base, folder, (*seen, path))
    return _merged(_without_rules(below) if "scope" in raw else below, raw)


def _without_rules(below: dict[str, Any]) -> dict[str, Any]:
    """A profile without the rules as its classifier of the intent, which are enough only where no subjects are listed."""
    agents = below.get("agents")
    if not isinstance(agents, dict) or agents.get("classify_intent") != {"model": "extractive"}:
        return below
    return below | {"agents": {name: agent for name, agent in agents.items() if name != "classify_intent"}}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise ProfileError(f"cannot be read: {problem}") from problem
    except tomllib.TOMLDecodeError as problem:
        raise ProfileError(f"is not TOML: {problem}") from problem


def _merged(base: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    """Tables merge key by key; lists and values of `top` replace those of `base`."""
    both = {**base, **top}
    for key, value in top.items():
        below = base.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            both[key] = _merged(below, value)
    return both


def _disagreements(profile: Profile) -> list[str]:
    """Settings that are well-formed but contradict each other."""
    found: list[str] = []
    if profile.default_language not in profile.languages:
        found.append(f"default_language: '{profile.default_language}' is not one of languages")
    advice = profile.safety_advice
    if missing := [language for language in profile.languages if advice and language not in advice]:
        found.append(f"safety_advice: has no {', '.join(missing)}, which `languages` lists")
    if profile.release == "token" and profile.max_answer_chars:
        found.append("max_answer_chars: cannot be kept when release is 'token'; use 'sentence' or 'draft'")
    if profile.retrieval.k > profile.retrieval.bm25_k + profile.retrieval.vector_k:
        found.append("retrieval.k: is more than bm25_k + vector_k can ever find")
    return found


_SIGNS = rf"\u1100-\u11ff\u3040-\u30ff{HAN}{HANGUL}"
_UNSPACED = re.compile(f"[{_SIGNS}]")


_ATTACHED = union(lambda language: language.words.attached).pattern
_INFLECTED = union(lambda language: language.words.inflected).pattern


def first_match(words: Iterable[str], text: str) -> str:
    """The first of `words` that occurs in `text`, as the profile spells it; empty when none does.

    Scripts with spaces have whole words, others substrings.
    """
    plain = normal(text)
    # Most words are not there at all, and need no pattern: those of one profile take a tenth of a second.
    there = (word for word in words if all(part in plain for part in _parts(word)))
    return next((word for word in there if _pattern(word).search(plain)), "")


@functools.lru_cache(maxsize=4096)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(normal(word).split())


@functools.lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str]:
    plain = r"\s+".join(map(re.escape, _parts(word)))
    if not plain:
        return re.compile(r"(?!)")
    if _UNSPACED.search(plain):
        return re.compile(plain)
    return re.compile(rf"(?<![^\W{_SIGNS}])(?:{_ATTACHED})?{plain}(?:{_INFLECTED})?(?![^\W{_SIGNS}])")
