"""Read the `.prompt` files once, and render an agent's variables into the text that a model gets.

An owner's own files take the place of the built-in ones, and a profile can add a role and rules; `problems_in` checks such files.

Values never go through the template: it is filled with marks and split at its roles, and only then are the marks replaced by
the values, in one pass. So nothing inside a value can open a role or be read as a template.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from dotpromptz import ParsedPrompt, parse_document
from dotpromptz_handlebars import EscapeFunction, Handlebars, HelperOptions, SafeString

from index.languages import name_of
from index.languages.toml_check import nearest
from prompts import notices
from prompts.contracts import PROMPTS, Chunk, GuardLanguage, Prompt
from prompts.fields import Place, Placement, places
from prompts.files import FOLDER, Rendered, is_remembered, source_of, tags_of
from prompts.neutral import Neutral
from prompts.profiles import AgentOverride

#: Introduces the role and the rules of a profile.
ADDED = "This service adds:"

_MARK = re.compile("\ue000([0-9]+)\ue001")
_ROLE = re.compile("\ue002([a-z]+)\ue003")


class PromptFile(msgspec.Struct, frozen=True, kw_only=True):
    """One parsed `.prompt` file. `fill` is its compiled template; `system` never changes between calls.

    `remembered`: for a while, the same question over the same evidence gets the same reply.
    """

    name: str
    description: str
    version: str
    temperature: float
    max_tokens: int
    input: dict[str, Any]  # Picoschema
    schema: dict[str, Any] | None
    remembered: bool
    system: str
    fill: Callable[[dict[str, Any]], str]


class Library:
    """All prompts, compiled. `overrides` change the sampling, the model and the rules of individual prompts.

    `folders`: of own prompts, which precede the built-in ones; the first folder comes first. `role`: added to every prompt but
    the translation. Raises: ValueError for a file that is no prompt.
    """

    def __init__(
        self, overrides: Mapping[str, AgentOverride] | None = None, folders: Sequence[Path] = (), role: str = ""
    ) -> None:
        self._overrides = dict(overrides or {})
        sources = {prompt.name: source_of(prompt.name, folders) for prompt in PROMPTS}
        partials = {name: source_of(f"_{name}", folders).strip() for name in PARTIALS}
        self._files = {
            name: _compiled(name, source, partials, self._additions(name, role)) for name, source in sources.items()
        }
        self._neutral = Neutral(tags_of((*sources.values(), *partials.values())))

    def render(self, variables: Prompt[Any]) -> Rendered:
        """The system and user text of one call. Constant text comes first, then evidence, then the question."""
        file = self._files[variables.name]
        override = self._overrides.get(variables.name, _NO_OVERRIDE)
        values: list[str] = []
        data = self._marked(_data(variables), places(type(variables)), values)
        parts = _ROLE.split(file.fill(data | _constants(variables)))
        user = _MARK.sub(lambda mark: values[int(mark[1])], parts[-1]).strip()
        return Rendered(
            system=file.system,
            user=user,
            version=file.version,
            schema=file.schema,
            temperature=file.temperature if override.temperature is None else override.temperature,
            max_tokens=_max_tokens(variables, file, override),
            model=override.model or "",
            reasoning_effort=override.reasoning_effort or "",
        )

    def version(self, name: str) -> str:
        """A digest of the prompt file and what it includes; part of cache keys and of the run record."""
        return self._files[name].version

    def file(self, name: str) -> PromptFile:
        return self._files[name]

    def _additions(self, name: str, role: str) -> tuple[str, ...]:
        """The role and the rules that the profile adds to this prompt."""
        described = (role,) if role and name != GuardLanguage.name else ()
        return (*described, *self._overrides.get(name, _NO_OVERRIDE).rules)

    def _marked(self, value: Any, place: Placement, values: list[str]) -> Any:
        """`value` with every non-empty string replaced by a mark for its place in `values`, which gets it neutralised."""
        if isinstance(value, str):
            if not value:
                return value  # so that {{#if}} still sees that it is empty
            values.append(self._harmless(value, place))
            return f"\ue000{len(values) - 1}\ue001"
        if isinstance(value, dict):
            below = place if isinstance(place, Mapping) else {}
            return {key: self._marked(inner, below.get(key, Place.LINE), values) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._marked(inner, place, values) for inner in value]
        if isinstance(value, bool | int | float):
            return value
        raise TypeError(f"a {type(value).__name__} cannot be part of a prompt")

    def _harmless(self, value: str, place: Placement) -> str:
        if place is Place.BLOCK:
            return self._neutral.block(value)
        return self._neutral.attribute(value) if place is Place.ATTRIBUTE else self._neutral.line(value)


_NO_OVERRIDE = AgentOverride()
#: The parts that prompts include.
PARTIALS = tuple(path.stem.removeprefix("_") for path in sorted(FOLDER.glob("_*.prompt")))


def problems_in(folders: Sequence[Path]) -> Iterator[str]:
    """Each problem of the prompts in these folders, one line each."""
    names = [*(prompt.name for prompt in PROMPTS), *(f"_{name}" for name in PARTIALS)]
    paths = [path for folder in folders for path in sorted(folder.glob("*.prompt"))]
    strange = [path for path in paths if path.stem not in names]
    yield from (f"{path}: there is no prompt '{path.stem}'{nearest(path.stem, names)}" for path in strange)
    built_in = Library()
    for path in paths:
        if path not in strange:
            yield from (f"{path}: {problem}" for problem in _problems_of(path, built_in))


def _problems_of(path: Path, built_in: Library) -> Iterator[str]:
    try:
        own = Library(folders=(path.parent,))
    except (KeyError, OSError, TypeError, UnicodeDecodeError, ValueError) as problem:
        yield f"is no usable prompt file ({problem}); `groundwire prompts show {path.stem}` prints a good one"
        return
    if path.stem.startswith("_"):
        return
    theirs, ours = own.file(path.stem), built_in.file(path.stem)
    if theirs.input != ours.input:
        yield "input: must be that of the built-in prompt, whose variables the program fills in"
    if theirs.schema != ours.schema:
        yield "output: must be that of the built-in prompt, whose fields the program reads"
    source, known = source_of(path.stem, (path.parent,)), source_of(path.stem)
    for variable in (name.removesuffix("(array)") for name in ours.input):
        used = re.compile(rf"{{{{[^}}]*\b{variable}\b")
        if used.search(known) and not used.search(source):
            yield f"does not use {{{{{variable}}}}}"


def _compiled(name: str, source: str, partials: Mapping[str, str], additions: Sequence[str] = ()) -> PromptFile:
    parsed: ParsedPrompt[Any] = parse_document(source, source_name=f"{name}.prompt")
    engine = Handlebars(escape_fn=EscapeFunction.NO_ESCAPE)
    engine.register_helper("role", _role)
    for partial, text in partials.items():
        engine.register_partial(partial, f"{text}\n")
    template = engine.compile(parsed.template)
    config, raw = parsed.config or {}, parsed.raw or {}
    schema = raw["output"].get("schema")
    used = [partials[partial] for partial in sorted(partials) if f"{{{{> {partial}}}}}" in source]
    _, *roles = _ROLE.split(template({}, {}))
    if roles[0::2] != ["system", "user"]:
        raise ValueError(f'{name}.prompt: must have {{{{role "system"}}}} and then {{{{role "user"}}}}, and no other')
    added = ("", ADDED, *(f"- {each}" for each in additions)) if additions else ()
    return PromptFile(
        name=name,
        description=parsed.description or "",
        version=hashlib.sha256("\0".join((source, *used, *additions)).encode()).hexdigest()[:12],
        temperature=float(config["temperature"]),
        max_tokens=int(config["maxOutputTokens"]),
        input=raw["input"]["schema"],
        schema=schema,
        remembered=is_remembered(source),
        system="\n".join([roles[1].strip(), *_limits(schema), *added]),
        fill=lambda data: template(data, {}),
    )


def _limits(schema: dict[str, Any] | None) -> list[str]:
    """A line with every limit of the output schema; none without a limit."""
    limits = "; ".join(_limits_of(schema or {}, ""))
    return [f"Longest texts and lists of the reply: {limits}."] if limits else []


def _limits_of(schema: Mapping[str, Any], name: str) -> Iterator[str]:
    if "maxLength" in schema:
        yield f"{name}, {schema['maxLength']} characters"
    if "maxItems" in schema:
        yield f"{name}, {schema['maxItems']} items"
    yield from _limits_of(schema.get("items", {}), f"each of {name}") if "items" in schema else ()
    for below, inner in schema.get("properties", {}).items():
        yield from _limits_of(inner, below)


def _role(params: list[Any], _options: HelperOptions) -> str:
    return SafeString(f"\ue002{params[0]}\ue003")


def _data(variables: Prompt[Any]) -> dict[str, Any]:
    """The variables as the template sees them; passages get the number that a reply refers to them by."""
    data: dict[str, Any] = msgspec.to_builtins(variables)
    for field in msgspec.structs.fields(variables):
        items = getattr(variables, field.name)
        if isinstance(items, tuple) and items and isinstance(items[0], Chunk):
            for number, item in enumerate(data[field.name], 1):
                item |= {"n": number, "score": f"{item['score']:.3f}"}
    return data


def _constants(variables: Prompt[Any]) -> dict[str, str]:
    """The other values that the template needs, all of them our own text."""
    language: str = getattr(variables, "target_language", "") or getattr(variables, "language", "")
    labels = {
        f"label_{name}": notices.label(name, language) for name in ("source", "summary", "conclusion", "arguments")
    }
    return labels | {"language_name": name_of(language, "the language of the question")}


def _max_tokens(variables: Prompt[Any], file: PromptFile, override: AgentOverride) -> int:
    # A translation may be as long as the text: a token is rarely shorter than half a character.
    if isinstance(variables, GuardLanguage):
        return min(override.max_tokens or file.max_tokens, max(64, 2 * len(variables.text)))
    wanted: int | None = getattr(variables, "max_tokens", None)
    return override.max_tokens or wanted or file.max_tokens
