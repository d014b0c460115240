"""Files that are written once and mapped into memory: a head that lists the parts, then the parts as arrays.

A mark of eight bytes names the kind of file; every part begins at a multiple of eight.
"""

import mmap
from collections.abc import Iterable
from pathlib import Path

import msgspec

_encoder = msgspec.msgpack.Encoder()


class _Head[T](msgspec.Struct, frozen=True, array_like=True):
    """`sizes` of the parts in bytes; the writer's own values."""

    sizes: tuple[int, ...]
    said: T


def write(path: Path, mark: bytes, said: object, parts: Iterable[bytes]) -> None:
    """`mark`: eight bytes."""
    arrays = list(parts)
    head = _encoder.encode(_Head(tuple(map(len, arrays)), said))
    with path.open("wb") as file:
        file.write(mark + len(head).to_bytes(8, "little") + head)
        for part in arrays:
            file.write(bytes(-file.tell() % 8))
            file.write(part)


def read[T](path: Path, mark: bytes, kind: type[T]) -> tuple[T, list[memoryview]]:
    """The writer's values, and the parts. Raises OSError, or ValueError when the file is another or incomplete."""
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    at = 16 + int.from_bytes(whole[8:16], "little")
    if whole[:8] != mark or at > len(whole):
        raise ValueError("another kind of file")
    try:
        head = msgspec.msgpack.decode(whole[16:at], type=_Head[kind])  # type: ignore[valid-type]
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error
    parts = []
    for size in head.sizes:
        at += -at % 8
        parts.append(whole[at : at + size])
        at += size
    if at != len(whole):
        raise ValueError("not of the length in its head")
    return head.said, parts
