"""The parts of mlx-lm outside its documented API that the device uses; a new version that changes one fails here first."""

import inspect

import mlx.core as mx
import mlx_lm
from mlx_lm.models.cache import BatchKVCache, KVCache

from runtime.engines.mlx.batch import generate


def test_mlx_lm_version_is_the_tested_one():
    assert mlx_lm.__version__.startswith("0.32.")


def test_generation_batch_keeps_lists_per_row():
    source = inspect.getsource(generate.GenerationBatch.filter) + inspect.getsource(generate.GenerationBatch.extend)
    for name in (
        "uids",
        "prompt_cache",
        "tokens",
        "samplers",
        "logits_processors",
        "max_tokens",
        "stop_sequences",
        "_next_tokens",
        "_next_logprobs",
        "_token_context",
        "_num_tokens",
        "_matchers",
    ):
        assert f"self.{name}" in source
    assert "if self.uids:\n            self._step()" in inspect.getsource(generate.GenerationBatch.__init__)


def test_cache_layout():
    cache = KVCache()
    cache.update_and_fetch(mx.ones((1, 2, 3, 4)), mx.ones((1, 2, 3, 4)))
    assert (cache.keys.shape, cache.offset) == ((1, 2, 256, 4), 3)
    batch = BatchKVCache.merge([cache, KVCache()])
    assert batch.keys.shape == (2, 2, 3, 4)
    assert batch.left_padding.tolist() == [0, 3]


def test_helpers():
    assert generate._merge_caches([]) == []
    assert generate.maybe_set_recommended_wired_limit() is None or mx.metal.is_available()
