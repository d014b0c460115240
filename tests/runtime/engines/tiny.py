"""A tiny random model with a byte-level tokenizer, built where the tests run: any mlx-lm architecture, no download."""

import json
import os
from collections.abc import Sequence
from itertools import islice, product
from pathlib import Path
from string import ascii_lowercase

os.environ.setdefault("MLX_DISABLE_COMPILE", "1")

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

CHAT = (
    "{%- for m in messages -%}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|im_start|>assistant\n"
    "{%- if enable_thinking is defined and enable_thinking is false -%}<think>\n\n</think>\n\n{%- endif -%}{%- endif -%}"
)
TEXTS = (
    '{"intent":"in_scope","confidence":"high","category":"refund","reasoning":"asked","suggested_response":""}',
    '{"contradictions":[],"verdict":"clean"} {"sub_queries":[{"id":"sq_1","statement":"a","focus":"b"}]}',
    "The refund is paid within 14 days of the return. 환불은 14일 안에 됩니다. 退款在14天内。 Le remboursement. الاسترداد.",
    "You are a strict judge. Decide whether the passage supports the claim. Answer with JSON.",
)


def build(
    folder: Path,
    *,
    vocab: int = 1024,
    hidden: int = 64,
    layers: int = 2,
    context: int = 32768,
    texts: Sequence[str] = TEXTS,
) -> Path:
    """Write config.json, weights and tokenizer into `folder`; the same seed gives the same weights.

    The vocabulary is smaller than `vocab` when `texts` have too few different words.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = write_tokenizer(folder, vocab, texts)
    config = {
        "model_type": "qwen3",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "intermediate_size": hidden * 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": hidden // 4,
        "rms_norm_eps": 1e-6,
        "vocab_size": size,
        "max_position_embeddings": context,
        "rope_theta": 1e6,
        "tie_word_embeddings": True,
    }
    mx.random.seed(0)
    model = qwen3.Model(qwen3.ModelArgs.from_dict(config))
    weights = dict(tree_flatten(model.parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def write_tokenizer(folder: Path, vocab: int, texts: Sequence[str], *, filled: bool = False) -> int:
    """The vocabulary's size; with `filled` made-up words, which no text is encoded to, bring it up to `vocab`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab - 5, min_frequency=1, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(list(texts) * 2, trainer=trainer)
    if filled:
        learned = json.loads(tokenizer.to_str())["model"]
        known = learned["vocab"]
        made_up = (word for letters in product(ascii_lowercase, repeat=4) if (word := "".join(letters)) not in known)
        every_third = islice(made_up, 0, None, 3)  # or all would begin with the same letters
        known |= {word: index for index, word in zip(range(len(known), vocab - 5), every_third, strict=False)}
        tokenizer.model = models.BPE(known, [tuple(pair) for pair in learned["merges"]])
    control = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in control])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in ("<think>", "</think>")])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return int(tokenizer.get_vocab_size())
