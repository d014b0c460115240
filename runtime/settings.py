"""Every setting of Groundwire: read from `groundwire.toml`, overridden by GROUNDWIRE_<SECTION>_<KEY> in the environment.

Unknown sections, keys and variables are refused with the nearest valid name. No other module reads the environment;
settings reach the code as values.
"""

import functools
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from bus.transport.settings import BusSettings
from index.embedders.reranker import RerankApi
from index.languages.toml_check import nearest, unknown_names
from index.plugins import installed
from prompts.vocabulary import Voice

Port = Annotated[int, Meta(ge=0, le=65535)]
Rate = Annotated[str, Meta(pattern=r"^([0-9]{1,6}/[smhd])?\Z")]
#: Where an edge is reached: nothing behind the host and its port, since the pages' own addresses begin there.
Origin = Annotated[str, Meta(pattern=r"^(https?://[^\s/?#@]+)?\Z")]
Address = Annotated[str, Meta(pattern=r"^(https?://[^\s/]\S*)?\Z")]
BucketName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{0,64}\Z")]
PREFIX = "GROUNDWIRE_"
#: The environment variable with the path of the settings file.
CONFIG = PREFIX + "CONFIG"
#: The one with the key of another server, which the client library reads.
KEY = PREFIX + "KEY"
#: Begins the passwords that the configuration of `groundwire nats config` reads: nats-server's settings, not ours.
NATS = PREFIX + "NATS_"


class SettingsError(ValueError):
    """An unusable setting; the message names it and the remedy in one line."""


class InferenceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[inference]`: what answers the prompts."""

    engine: str = "extractive"  #: `mlx` for a model on this machine
    model: str = ""  #: folder or hub id, or its name on the server of `openai`; empty for the engine's own choice
    base_url: str = "http://127.0.0.1:8000/v1"  #: for `openai`: the OpenAI-compatible server
    api_key: str = ""  #: for `openai`; better set as GROUNDWIRE_INFERENCE_API_KEY
    max_rows: Annotated[int, Meta(ge=1)] = 32  #: for `mlx`: concurrent requests on the device
    lock: str = ""  #: lock file of the device; empty for one per machine
    cache_entries: Annotated[int, Meta(ge=0)] = 300  #: replies cached
    cache_s: Annotated[float, Meta(ge=0)] = 3600.0  #: how long a reply stays cached

    @property
    def batch(self) -> int:
        """How many requests the engine answers together, as far as that is known."""
        return self.max_rows if self.engine == "mlx" else 1


class IndexSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[index]`: the index to search."""

    dir: str = ""  #: folder made by `groundwire index build`
    bucket: BucketName = ""  #: instead: bucket of `groundwire index push`, for `serve search`
    url: Address = ""  #: instead: an OpenSearch cluster, `https://search.example.org:9200`
    user: str = ""  #: its user
    password: str = ""  #: better set as GROUNDWIRE_INDEX_PASSWORD
    ca: str = ""  #: file of the authority that signed its certificate; empty for those of the system
    threads: Annotated[int, Meta(ge=1, le=64)] = 4  #: concurrent searches
    originals: bool = True  #: a caller that may find a document may open its file and the pages of a PDF
    embedder: Literal["pieces", "openai"] = "pieces"  #: what makes the index's vectors; `pieces` are built in
    embed_model: str = ""  #: embedding model: its name on the server
    embed_base_url: str = "http://127.0.0.1:8000/v1"  #: for `openai`
    embed_api_key: str = ""  #: for `openai`; falls back to OPENAI_API_KEY
    embed_instruction: str = ""  #: prefix of every query, for models that expect one
    embed_threshold: Annotated[float, Meta(ge=-1, le=1)] = 0.5  #: cosine below which a hit is dropped
    rerank_url: str = ""  #: of a reranker, without `/rerank`: `http://127.0.0.1:8080/v1`; empty for none
    rerank_api: RerankApi = "cohere"  #: also for Jina, vLLM and llama.cpp; `tei` for Text Embeddings Inference
    rerank_model: str = ""  #: its name on the server, where the server wants one
    rerank_api_key: str = ""  #: better set as GROUNDWIRE_INDEX_RERANK_API_KEY
    rerank_timeout_s: Annotated[float, Meta(gt=0, le=2.5)] = 2.0  #: after which a search goes on without

    @property
    def place(self) -> str:
        """The folder or the URL; empty where none is named."""
        return self.url or self.dir


#: The most actors processes that are started without being asked for.
MOST_ACTORS = 4


class ActorsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[actors]`: the processes that run the stages."""

    processes: Annotated[int, Meta(ge=0, le=64)] = (
        0  #: how many share the questions; 0: without a model, one for each core
    )


class VerifierSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[verifier]`: the weight of its findings."""

    numeric_promote: bool = False  #: count its numeric conflicts as strong; also VERIFIER_NUMERIC_PROMOTE=1


class AnswersSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[answers]`: when an answer is shown."""

    voice: Voice = "strict"  #: how sure an answer must be: `strict` or `helpful`, unless profile or request say


class AccessSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[access]`: rights to see documents and runs."""

    integrations: str = "*"  #: groups visible to a question without a key, `sales,hr`; `*` for all documents
    keys: str = ""  #: file of the keys; empty for `keys.json` in the state folder. Edges of one bus share it
    required: bool = False  #: a key is needed on loopback too, as behind a reverse proxy
    rate: Rate = ""  #: most requests of a key that names no rate: `5/s`
    concurrency: Annotated[int, Meta(ge=0)] = 0  #: most requests at a time of a key that names none; 0 for no limit


class EdgeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[edge]`: the HTTP side."""

    host: str = "127.0.0.1"  #: 0.0.0.0 to serve other machines, which then need a key
    port: Port = 8080
    hosts: str = ""  #: further names of the service: `docs.example.org, intranet:8080`
    public_url: Origin = ""  #: where clients reach it, if through a proxy: `https://docs.example.org`
    profiles: str = ""  #: further built-in profiles that the page offers: `support,tutor`
    origins: str = ""  #: other sites with pages that may use it: `https://app.example.org`
    max_connections: Annotated[int, Meta(ge=1)] = 8192  #: further ones get 503
    max_connections_per_address: Annotated[int, Meta(ge=0)] = 256  #: of another machine; 0 for no limit
    json_deadline_s: Annotated[float, Meta(gt=0)] = 15.0  #: deadline of a JSON answer that names none
    canary_s: Annotated[float, Meta(ge=0)] = 10.0  #: how often readiness asks a question of its own; 0 for never
    max_body_bytes: Annotated[int, Meta(ge=1024)] = 65_536


class TelemetrySettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[telemetry]`: exported metrics and spans. Metrics are at `/metrics` in any case."""

    otlp: Address = ""  #: receiver of OpenTelemetry spans by OTLP over HTTP, `http://127.0.0.1:4318`; empty for none
    otlp_headers: str = (
        ""  #: sent along, `authorization=Bearer%20…,name=value`; better GROUNDWIRE_TELEMETRY_OTLP_HEADERS
    )
    service: str = "groundwire"  #: the name of this installation in the spans
    content: bool = False  #: spans also hold question and answer


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All sections, and the keys outside them."""

    bus: BusSettings = BusSettings()
    inference: InferenceSettings = InferenceSettings()
    index: IndexSettings = IndexSettings()
    actors: ActorsSettings = ActorsSettings()
    verifier: VerifierSettings = VerifierSettings()
    answers: AnswersSettings = AnswersSettings()
    access: AccessSettings = AccessSettings()
    edge: EdgeSettings = EdgeSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    profiles: str = ""  #: folder of your own profiles
    state: str = "~/.local/state/groundwire"  #: journals, logs and locks; under XDG_STATE_HOME if set
    log: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = "WARNING"  #: log level of the processes

    @property
    def without_model(self) -> bool:
        """Whether the actors answer asks by rules, in their own process."""
        return self.inference.engine == InferenceSettings().engine

    @property
    def actor_names(self) -> tuple[str, ...]:
        """The name of each actors process in logs and health checks. With a model, the model is what questions wait for."""
        by_cores = min(os.cpu_count() or 1, MOST_ACTORS)
        count = self.actors.processes or (by_cores if self.without_model else 1)
        return ("actors", *(f"actors-{n}" for n in range(2, count + 1)))


def config_file(named: Path | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    return named or (Path(environ[CONFIG]) if environ.get(CONFIG) else None)


def load(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in force. Raises SettingsError."""
    environ = os.environ if environ is None else environ
    refuse_unknown_variables(environ)
    path = config_file(path, environ)
    raw: dict[str, Any] = {}
    if path is not None:
        try:
            raw = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path}: cannot be read ({error}); it must be TOML") from None
    if wrong := unknown_names({name: value for name, value in raw.items() if name != "log"}, Settings):
        raise SettingsError(f"{path}: {wrong[0]}")
    for name, (*section, key) in variables().items():
        if name in environ:
            table = raw.setdefault(section[0], {}) if section else raw
            table[key] = environ[name]
    if isinstance(raw.get("log"), str):
        raw["log"] = raw["log"].upper()
    if environ.get("XDG_STATE_HOME"):
        raw.setdefault("state", f"{environ['XDG_STATE_HOME']}/groundwire")
    if environ.get("OPENAI_API_KEY"):
        raw.setdefault("index", {}).setdefault("embed_api_key", environ["OPENAI_API_KEY"])
    if environ.get("VERIFIER_NUMERIC_PROMOTE") == "1":
        raw.setdefault("verifier", {})["numeric_promote"] = True
    try:
        settings = msgspec.convert(raw, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"a setting has a wrong value: {error}") from None
    if settings.inference.engine not in (engines := installed("engines")):
        engine = settings.inference.engine
        raise SettingsError(f"inference.engine: no engine is called {engine!r}{nearest(engine, engines)}")
    return settings


def sections() -> dict[str, type[msgspec.Struct]]:
    return {
        field.name: field.type
        for field in msgspec.structs.fields(Settings)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
    }


def variables() -> dict[str, tuple[str, ...]]:
    """Each recognised environment variable, with the section (if any) and key that it sets."""
    known = sections()
    places: list[tuple[str, ...]] = []
    for field in msgspec.structs.fields(Settings):
        if field.name in known:
            places += [(field.name, key.name) for key in msgspec.structs.fields(known[field.name])]
        else:
            places.append((field.name,))
    return {f"{PREFIX}{'_'.join(place)}".upper(): place for place in places}


def child_environ(settings: Settings) -> dict[str, str]:
    """The environment for a child process: this one's, with these settings in place of its own."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    for name, place in variables().items():
        environ[name] = str(functools.reduce(getattr, place, settings))
    return environ


def refuse_unknown_variables(environ: Mapping[str, str] | None = None) -> None:
    """Raises SettingsError for a variable with our prefix that sets nothing."""
    known = {*variables(), CONFIG, KEY}
    for name in os.environ if environ is None else environ:
        if name.startswith(PREFIX) and not name.startswith(NATS) and name not in known:
            section = PREFIX + name.removeprefix(PREFIX).partition("_")[0] + "_"
            if not (among := [each for each in known if each.startswith(section)]):
                among, section = [*known], PREFIX
            raise SettingsError(f"{name} in the environment sets nothing{nearest(name, among, section)}")
