"""End a JSON reply when its tokens run out: close every open bracket and write the required parts as briefly as possible.

A reply cut this way still fits its schema. A token's first byte shows whether it closes something.
"""

import json
from typing import Any

import numpy as np
import numpy.typing as npt

type Words = npt.NDArray[np.int32]

#: Spare tokens: for a half character or an escape to finish, or an enum's word spelled letter by letter.
SPARE_TOKENS = 16
#: Text in which no tokenizer finds words: one token per character.
FILLER = "~^" * 5000

#: What a token does, by its first byte; a quote alone needs a second look.
QUOTE, COMMA, INSIDE = 1, 3, 4
KINDS = {b"]": 0, b"}": 0, b",": COMMA, b"#": INSIDE}


class Closers:
    """Bitmasks over the vocabulary, most closing first: brackets, a string's end with nothing new after it, any quote, a comma.

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
