"""Load a model, or say in one line why it cannot be loaded; runs on the device thread, like everything that uses mlx."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llguidance
import llguidance.hf
import mlx.core as mx
import mlx_lm
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import _download, load_model, load_tokenizer

from bus.wire.errors import Unavailable
from runtime.engines.mlx.settings import DeviceSettings

#: The share of memory for weights; the rest is for caches and the running step.
WEIGHTS_SHARE = 0.85
#: What mlx-lm raises for a folder it cannot read: files, JSON, shapes, missing keys, missing arguments.
LOAD_ERRORS = (OSError, ValueError, RuntimeError, KeyError, TypeError, AttributeError)


@dataclass(slots=True)
class LoadedModel:
    """`width` is the logits' width, which may be wider than the vocabulary."""

    name: str
    folder: str
    digest: str
    model: Any
    tokenizer: Any
    grammar_tokenizer: Any
    width: int
    eos: frozenset[int]
    context_tokens: int
    weight_bytes: int
    kv_token_bytes: int
    memory_limit_bytes: int


def load(settings: DeviceSettings) -> LoadedModel:
    """Raises: Unavailable with the remedy."""
    folder = _folder(settings.model)
    limit = settings.memory_bytes or memory_limit()
    weights = _check(folder, limit)
    try:
        model, config = load_model(folder)
        tokenizer = load_tokenizer(folder, eos_token_ids=config.get("eos_token_id"))  # type: ignore[no-untyped-call]
    except LOAD_ERRORS as error:
        raise Unavailable(_load_message(folder, error)) from error
    cache = make_prompt_cache(model)
    logits = model(mx.array([[0]]), cache=cache)
    mx.eval(logits, [c.state for c in cache])
    eos = frozenset(tokenizer.eos_token_ids)
    width = logits.shape[-1]
    return LoadedModel(
        name=settings.model if not Path(settings.model).expanduser().exists() else folder.name,
        folder=str(folder),
        digest=_digest(folder),
        model=model,
        tokenizer=tokenizer,
        grammar_tokenizer=_grammar_tokenizer(folder, tokenizer, width, eos),
        width=width,
        eos=eos,
        context_tokens=settings.context_tokens or _context(config),
        weight_bytes=weights,
        kv_token_bytes=_kv_token_bytes(cache),
        memory_limit_bytes=limit,
    )


def memory_limit() -> int:
    """Bytes that the device may use: what Metal recommends, what a graphics card has free, or three quarters of the memory."""
    info = mx.device_info()
    recommended = info.get("max_recommended_working_set_size") or info.get("memory_size")
    if recommended:
        return int(recommended)
    if "free_memory" in info:  # the card's own memory; the machine's may be larger
        return min(int(info["free_memory"]) + mx.get_cache_memory(), mx.get_memory_limit())
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4


def _folder(model: str) -> Path:
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if model.startswith((".", "/", "~")) or model.count("/") != 1:
        raise Unavailable(f"there is no model folder {model}; name a folder with config.json and weights, or a hub id")
    try:
        return Path(_download(model))
    except LOAD_ERRORS as error:
        raise Unavailable(
            f"model {model} cannot be downloaded ({_line(error)}); check the id and the network"
        ) from error


def _check(folder: Path, limit: int) -> int:
    """The weights' size in bytes. Raises: Unavailable when something is missing or too large."""
    weights = sorted(folder.glob("model*.safetensors"))
    missing = [name for name in ("config.json", "tokenizer.json") if not (folder / name).is_file()]
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = set(json.loads(index.read_text())["weight_map"].values())
        missing += sorted(shards - {w.name for w in weights})
    if not weights and not missing:
        missing.append("model.safetensors")
    if missing:
        raise Unavailable(f"the model folder {folder} lacks {', '.join(missing)}; download the model again")
    size = sum(w.stat().st_size for w in weights)
    if size > limit * WEIGHTS_SHARE:
        raise Unavailable(
            f"the model {folder.name} needs {size / 1e9:.1f} GB and this machine has {limit / 1e9:.1f} GB for a model; "
            "choose a smaller or a quantised model"
        )
    return size


def _load_message(folder: Path, error: BaseException) -> str:
    if "not supported" in str(error):
        kind = json.loads((folder / "config.json").read_text()).get("model_type", "unnamed")
        return (
            f"mlx-lm {mlx_lm.__version__} does not know the architecture {kind} of {folder.name}; choose another model"
        )
    return f"the model in {folder} cannot be loaded ({_line(error)}); download the model again"


def _line(error: BaseException) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}".rstrip(": ")


def _grammar_tokenizer(folder: Path, tokenizer: Any, width: int, eos: frozenset[int]) -> Any:
    slices = llguidance.LLTokenizer.json_slices()
    try:
        return llguidance.hf.from_tokenizer(tokenizer._tokenizer, n_vocab=width, eos_token=sorted(eos), slices=slices)
    except ValueError as error:
        raise Unavailable(
            f"the tokenizer of {folder.name} does not work with grammars ({error}); choose another model"
        ) from error


def _context(config: dict[str, Any]) -> int:
    text_config = config.get("text_config") or {}
    return int(config.get("max_position_embeddings") or text_config.get("max_position_embeddings") or 8192)


def _kv_token_bytes(cache: list[Any]) -> int:
    """Bytes of cache per token, measured on a cache that holds one token and has room for more."""
    layers = [layer for layer in cache if getattr(layer, "keys", None) is not None]
    return max(1, sum(int(layer.nbytes // layer.keys.shape[2]) for layer in layers))


def _digest(folder: Path) -> str:
    """Identifies the weights by the configuration and each file's size, head and tail; reading gigabytes would take seconds."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update((folder / "config.json").read_bytes())
    for path in sorted(folder.glob("model*.safetensors")):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            digest.update(file.read(1 << 20))
            file.seek(max(0, size - (1 << 20)))
            digest.update(file.read())
    return digest.hexdigest()
