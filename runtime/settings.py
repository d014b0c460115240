"""Every setting of Groundwire: `groundwire.toml`, then GROUNDWIRE_<SECTION>_<KEY> in the environment on top.

Unknown sections and keys are refused with the nearest valid name.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from bus.settings import BusSettings

Port = Annotated[int, Meta(ge=0, le=65535)]
PREFIX = "GROUNDWIRE_"


class SettingsError(ValueError):
    """A setting that cannot be used; one line that names it and its remedy."""


class InferenceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[inference]`: what answers the prompts."""

    engine: Literal["extractive", "mlx", "openai", "scripted"] = "extractive"  #: `mlx` for a model on this machine
    model: str = (
        "mlx-community/Qwen3-4B-Instruct-2507-4bit"  #: a local folder or a hub id; for `openai` the model's name
    )
    base_url: str = "http://127.0.0.1:8000/v1"  #: of an OpenAI-compatible server, for `openai`
    api_key: str = ""  #: for `openai`; better given as GROUNDWIRE_INFERENCE_API_KEY
    max_rows: Annotated[int, Meta(ge=1)] = 32  #: requests on the device at once, for `mlx`
    refuse_after_s: Annotated[float, Meta(ge=0)] = 0.0  #: with several devices: let another take what would wait longer
    lock: str = ""  #: file that says who owns the device; empty for one for the whole machine
    cache_entries: Annotated[int, Meta(ge=0)] = 300  #: answers remembered
    cache_s: Annotated[float, Meta(ge=0)] = 3600.0  #: and for how long


class IndexSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[index]`: where the documents are."""

    dir: str = ""  #: made by `groundwire index build`
    threads: Annotated[int, Meta(ge=1, le=64)] = 4  #: searches at a time
    embedder: Literal["lsa", "mlx", "openai"] = "lsa"  #: what made the index's vectors; `lsa` needs no model
    embed_model: str = ""  #: folder, hub id or the server's name of the embedding model
    embed_base_url: str = "http://127.0.0.1:8000/v1"  #: for `openai`
    embed_pooling: Literal["last", "mean"] = "last"  #: for `mlx`
    embed_instruction: str = ""  #: put before a query, for models that want it
    embed_threshold: Annotated[float, Meta(ge=-1, le=1)] = 0.5  #: cosine below which a hit means nothing


class ActorsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[actors]`: how the stages are spread over processes."""

    processes: str = ""  #: `retrieve,open_lanes; stream_answer`: a process each, one for the rest; `*; *`: two with all


class EdgeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[edge]`: the HTTP side."""

    host: str = "127.0.0.1"  #: 0.0.0.0 to serve other machines
    port: Port = 8080
    json_deadline_s: Annotated[float, Meta(gt=0)] = 15.0  #: of a JSON answer that names none
    max_body_bytes: Annotated[int, Meta(ge=1024)] = 65_536


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All sections."""

    bus: BusSettings = BusSettings()
    inference: InferenceSettings = InferenceSettings()
    index: IndexSettings = IndexSettings()
    actors: ActorsSettings = ActorsSettings()
    edge: EdgeSettings = EdgeSettings()
    profiles: str = ""  #: folder with profiles of your own


def load(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in force. Raises SettingsError."""
    environ = os.environ if environ is None else environ
    path = path or (Path(environ[PREFIX + "CONFIG"]) if environ.get(PREFIX + "CONFIG") else None)
    raw: dict[str, Any] = {}
    if path is not None:
        try:
            raw = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path}: cannot be read ({error}); it must be TOML") from None
    _refuse_unknown(raw, str(path))
    for name, value in environ.items():
        if name.startswith(PREFIX):
            _put(raw, name, value)
    try:
        return msgspec.convert(raw, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"a setting has a wrong value: {error}") from None


def sections() -> dict[str, type[msgspec.Struct]]:
    """Section name to its Struct, in order."""
    return {
        "bus": BusSettings,
        "inference": InferenceSettings,
        "index": IndexSettings,
        "actors": ActorsSettings,
        "edge": EdgeSettings,
    }


def to_environ(settings: Settings) -> dict[str, str]:
    """The environment that gives a child process these settings."""
    environ = {}
    for section, struct in sections().items():
        values = getattr(settings, section)
        for field in msgspec.structs.fields(struct):
            environ[f"{PREFIX}{section}_{field.name}".upper()] = str(getattr(values, field.name))
    environ[PREFIX + "PROFILES"] = settings.profiles
    return environ


def _put(raw: dict[str, Any], name: str, value: str) -> None:
    if name == PREFIX + "PROFILES":
        raw["profiles"] = value
        return
    section, _, key = name.removeprefix(PREFIX).lower().partition("_")
    struct = sections().get(section)
    if struct is None or key not in {f.name for f in msgspec.structs.fields(struct)}:
        return  # other variables of ours, such as GROUNDWIRE_CONFIG, are not settings
    raw.setdefault(section, {})[key] = value


def _refuse_unknown(raw: Mapping[str, Any], where: str) -> None:
    known = {*sections(), "profiles"}
    for name, value in raw.items():
        if name not in known:
            raise SettingsError(f"{where}: no section is called {name!r}{nearest(name, known)}")
        if isinstance(value, dict):
            keys = {f.name for f in msgspec.structs.fields(sections()[name])}
            for key in value:
                if key not in keys:
                    raise SettingsError(f"{where}: [{name}] has no key {key!r}{nearest(key, keys)}")


def nearest(name: str, known: set[str]) -> str:
    """The end of a message about an unknown name: the one that was meant, or all that there are."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(sorted(known))}"
