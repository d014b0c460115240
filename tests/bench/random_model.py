"""Write a random model with the shape of Qwen3-4B, to measure a device without a downloaded model.

    uv run python -m tests.bench.random_model FOLDER [--bits 4]
    uv run --group dev python -m tests.bench.bench_inference --model FOLDER

Speed does not depend on the values of the weights; they are bfloat16, or quantised as mlx-lm quantises common models for Macs.
"""

import argparse
import sysconfig
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm.models import qwen3
from mlx_lm.utils import quantize_model, save_config, save_model

from tests.runtime.engines.tiny import write_tokenizer

QWEN3_4B: dict[str, Any] = {
    "model_type": "qwen3",
    "hidden_size": 2560,
    "num_hidden_layers": 36,
    "intermediate_size": 9728,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "rms_norm_eps": 1e-6,
    "vocab_size": 151_936,
    "max_position_embeddings": 262_144,
    "rope_theta": 5e6,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}
#: Text to train the tokenizer on: what ships with Python.
CORPUS_BYTES = 1_000_000


def corpus() -> list[str]:
    texts, size = [], 0
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        texts.append(path.read_text(encoding="utf-8"))
        size += len(texts[-1])
        if size > CORPUS_BYTES:
            break
    return texts


def write(folder: Path, config: dict[str, Any] = QWEN3_4B, bits: int | None = None) -> Path:
    """Each id of the model's vocabulary is a token that decodes: random weights sample all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder, config["vocab_size"], corpus(), filled=True)
    mx.random.seed(0)
    model = qwen3.Model(qwen3.ModelArgs.from_dict(config))
    model.set_dtype(mx.bfloat16)
    if bits is not None:
        model, config = quantize_model(model, config, group_size=64, bits=bits)
    save_model(folder, model)
    save_config(config, config_path=folder / "config.json")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bits", type=int, choices=[4, 8])
    arguments = parser.parse_args()
    write(arguments.folder, bits=arguments.bits)


if __name__ == "__main__":
    main()
