"""The bare model and mlx-lm's own batch loop, driven directly: the baseline for our overhead."""

import importlib
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from runtime.engines.os_thread import MlxThread

type Work = tuple[Callable[[Any], float], Future[float]]


class RawLoop:
    """Owns a second copy of the model on a thread of its own."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread = MlxThread(target=self._run, name="raw loop", daemon=True)
        self._thread.start()

    def tokens_per_s(self, prompts: Sequence[list[int]], max_tokens: int) -> float:
        """Tokens/s with all prompts at once through `BatchGenerator`, without an end token."""
        return self._do(lambda model: _tokens_per_s(model, prompts, max_tokens))

    def longest_chunk_s(self, tokens: int, chunk: int, prompts: int) -> float:
        """Seconds of the longest prefill chunk over the given prompts, with nothing else running."""
        return self._do(lambda model: max(_longest_chunk_s(model, tokens, chunk) for _ in range(prompts)))

    def close(self) -> None:
        self._work.put(None)
        self._thread.join()

    def _do(self, work: Callable[[Any], float]) -> float:
        result: Future[float] = Future()
        self._work.put((work, result))
        return result.result()

    def _run(self) -> None:
        import mlx.core as mx
        from mlx_lm import load

        model = load(self._folder)[0]
        while (item := self._work.get()) is not None:
            work, result = item
            result.set_result(work(model))
            del work, result, item
        del model
        mx.clear_streams()


def _tokens_per_s(model: Any, prompts: Sequence[list[int]], max_tokens: int) -> float:
    generate: Any = importlib.import_module("mlx_lm.generate")
    began = time.perf_counter()
    batch = generate.BatchGenerator(model)
    batch.insert([list(prompt) for prompt in prompts], max_tokens=[max_tokens] * len(prompts))
    left, tokens = len(prompts), 0
    while left:
        for response in batch.next()[1]:
            tokens += 1
            left -= response.finish_reason is not None
    batch.close()
    return tokens / (time.perf_counter() - began)


def _longest_chunk_s(model: Any, tokens: int, chunk: int) -> float:
    import mlx.core as mx
    from mlx_lm.models.cache import make_prompt_cache

    cache = make_prompt_cache(model)
    prompt = mx.zeros((1, tokens), dtype=mx.int32)
    longest = 0.0
    for begin in range(0, tokens, chunk):
        began = time.perf_counter()
        model(prompt[:, begin : begin + chunk], cache=cache)
        mx.eval([layer.state for layer in cache])
        longest = max(longest, time.perf_counter() - began)
    return longest
