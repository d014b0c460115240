"""Make replies fit their schema by construction: mask the vocabulary before every sample.

llguidance rejects the end token after the closing brace, so a stopped guide allows only the end token. Nothing here raises
during a step: a failed guide is marked, and its row is removed after the step.
"""

import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import llguidance
import mlx.core as mx
import numpy as np
import numpy.typing as npt

from bus.wire.errors import BadReply

#: No whitespace between the parts of the JSON: fewer tokens, and more of them forced.
COMPACT: Any = {"whitespace_flexible": False}


class Guide:
    """One row's position in its grammar."""

    def __init__(self, matcher: Any, reserve: int = 0) -> None:
        self.matcher = matcher
        self.failed = ""
        self.left: float = math.inf  # tokens that may still be sampled
        self.cut = False  # it was closed before the model was done
        self._reserve = reserve

    def copy(self) -> "Guide":
        other = Guide(self.matcher.deep_copy(), self._reserve)
        other.left = self.left
        return other

    @property
    def closing(self) -> bool:
        """Whether the remaining tokens just suffice to write the rest."""
        return self.left <= self._reserve

    @property
    def finished(self) -> bool:
        """Whether nothing may follow: the reply is complete, or the guide has failed."""
        return bool(self.failed) or self.matcher.is_stopped()

    def forced(self) -> list[int]:
        """Take the tokens that are forced next, so that they need no step."""
        tokens: list[int] = self.matcher.compute_ff_tokens()
        return tokens if tokens and self.take(tokens) else []

    def take(self, tokens: Sequence[int]) -> bool:
        """Advance over all of `tokens`, or over none and return False."""
        if self.matcher.validate_tokens(list(tokens)) < len(tokens):
            return False
        self.left -= len(tokens)
        return bool(self.matcher.consume_tokens(list(tokens)))

    def consume(self, token: int) -> None:
        self.left -= 1
        if not self.finished and not self.matcher.consume_token(token):
            self.failed = self.matcher.get_error() or f"the grammar refused token {token}"


class Grammars:
    """Compiles each schema once; `width` is the logits' width."""

    def __init__(self, tokenizer: Any, width: int, eos: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self._executor = llguidance.LLExecutor()
        self._closers = Closers(tokenizer, width)
        self._templates: dict[str, Guide] = {}
        self._tables: dict[Any, mx.array] = {}
        self._words = (width + 31) // 32
        self._all = np.full(self._words, -1, dtype=np.int32)
        self._end = np.zeros(self._words, dtype=np.int32)
        for token in eos:
            self._end.view(np.uint32)[token // 32] |= np.uint32(1 << (token % 32))

    def guide(self, schema: dict[str, Any]) -> Guide:
        """A guide for the schema. Raises: BadReply when it cannot be compiled."""
        key = json.dumps(schema)
        if key not in self._templates:
            self._templates[key] = self._compile(schema)
        return self._templates[key].copy()

    def _mask(self, guides: Sequence[Guide | None]) -> npt.NDArray[np.int32]:
        """One bit per token and row, for the whole batch in one call."""
        words = np.empty((len(guides), self._words), dtype=np.int32)
        live = []
        for row, guide in enumerate(guides):
            if guide is None:
                words[row] = self._all
            elif guide.finished:
                words[row] = self._end
            else:
                live.append((guide.matcher, row))
        if live:
            self._executor.unsafe_compute_mask_ptr(live, words.ctypes.data, self._words * 4, len(guides))
        for row, guide in enumerate(guides):
            if guide is not None and guide.closing and not guide.finished:
                self._close(guide, words[row])
        return words

    def _close(self, guide: Guide, words: npt.NDArray[np.int32]) -> None:
        """End the reply soon: write the forced text in as few tokens as possible, else close as much as possible."""
        forced = guide.matcher.compute_ff_tokens()
        if forced:
            words[:] = 0
            words.view(np.uint32)[forced[0] // 32] = np.uint32(1 << (forced[0] % 32))
            return
        before = words.copy()
        if self._closers.narrow(words):
            guide.cut = guide.cut or not np.array_equal(before, words)

    def apply(self, logits: mx.array, guides: Sequence[Guide | None]) -> mx.array:
        """Set forbidden tokens to minus infinity, by a byte table, which is portable where a Metal kernel is not."""
        bits = mx.array(self._mask(guides)).view(mx.uint8)
        return logits + self._biases(logits.dtype)[bits].flatten(-2)[..., : logits.shape[-1]]

    def _compile(self, schema: dict[str, Any]) -> Guide:
        try:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, overrides=COMPACT)
        except ValueError as error:
            raise BadReply(f"the output schema is not a JSON Schema ({error}); correct the prompt file") from error
        failed, messages = llguidance.LLMatcher.validate_grammar_with_warnings(grammar, self._tokenizer)
        if failed:
            raise BadReply(f"the output schema cannot be compiled ({messages[0]}); correct the prompt file")
        reserve = len(self._tokenizer.tokenize_str(shortest(schema))) + SPARE_TOKENS
        return Guide(llguidance.LLMatcher(self._tokenizer, grammar), reserve)

    def _biases(self, dtype: Any) -> mx.array:
        """The eight additive biases of every byte, lowest bit first."""
        if dtype not in self._tables:
            rows = itertools.product(*[[float("-inf"), 0.0]] * 8)
            self._tables[dtype] = mx.array([row[::-1] for row in rows], dtype=dtype)
        return self._tables[dtype]


def choices(schema: dict[str, Any]) -> list[str] | None:
    """The JSON texts that a one-token verdict chooses from; None if the schema is neither an enum nor a boolean."""
    if "enum" in schema:
        return [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in schema["enum"]]
    return ["true", "false"] if schema.get("type") == "boolean" else None


type Words = npt.NDArray[np.int32]

#: Spare tokens: for a half character or an escape to finish, or an enum's word spelled letter by letter.
SPARE_TOKENS = 16
#: Text in which no tokenizer finds words: one token per character.
FILLER = "~^" * 5000

#: What a token does, by its first byte; a quote alone needs a second look.
QUOTE, COMMA, INSIDE = 1, 3, 4
KINDS = {b"]": 0, b"}": 0, b",": COMMA, b"#": INSIDE}


class Closers:
    """End a JSON reply when its tokens run out; a token's first byte shows whether it closes something.

    Bitmasks over the vocabulary, most closing first: brackets, a string's end with nothing new after it, any quote, a comma.

    A last mask, of tokens that only a string may contain, shows whether brackets are plain text here.
    """

    def __init__(self, tokenizer: Any, width: int) -> None:
        kinds = np.zeros((INSIDE + 1, (width + 31) // 32 * 32), dtype=bool)
        for token in range(min(width, tokenizer.vocab_size)):
            if tokenizer.is_special_token(token):
                continue
            text = tokenizer.decode_bytes([token])
            kind = _kind(text)
            if kind is not None:
                kinds[kind, token] = True
        self._masks: list[Words] = [np.packbits(kind, bitorder="little").view(np.int32) for kind in kinds]

    def narrow(self, words: Words) -> bool:
        """Leave only the tokens that close most in `words`; False if no allowed token closes anything."""
        inside = (words & self._masks[INSIDE]).any()
        for mask in self._masks[QUOTE if inside else 0 : INSIDE]:
            closing = words & mask
            if closing.any():
                words[:] = closing
                return True
        return False


def _kind(text: bytes) -> int | None:
    if text[:1] == b'"':
        return QUOTE if text[1:2] in (b"", b"]", b"}") else QUOTE + 1
    return KINDS.get(text[:1])


def shortest(schema: dict[str, Any]) -> str:
    """Roughly the tokens needed to finish, at worst: one item of every list is open, every word is its enum's longest."""
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    texts = [json.dumps(value, ensure_ascii=False) for value in values] + [
        shortest(one) for one in schema.get("anyOf", ())
    ]
    return max(texts, key=len) if texts else _shortest_of_type(schema)


def _shortest_of_type(schema: dict[str, Any]) -> str:
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            parts = (f'"{name}":{shortest(properties.get(name, {}))}' for name in schema.get("required", ()))
            return "{" + ",".join(parts) + "}"
        case "array":
            return "[" + ",".join([shortest(schema.get("items", {}))] * max(1, schema.get("minItems", 0))) + "]"
        case "string":
            return '"' + FILLER[: schema.get("minLength", 0)] + '"'
        case "integer" | "number":
            return f"{schema.get('maximum', 99)}"
        case _:
            return "false"
