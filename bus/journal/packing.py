"""A record's bytes in the journal: long records packed (zlib), short ones unchanged.

A run's records repeat each other: its passages are in the hits of a search and in the records of three stages. Packed,
a run takes a third. What integrations read or write, the question and the end, is never packed, nor is what was set aside.
"""

import zlib

from bus.wire.messages import QuestionAsked, RunFinished, message_type
from bus.wire.subjects import POISON

_AS_THEY_ARE = {message_type(QuestionAsked), message_type(RunFinished), POISON}
_PACK_FROM = 400  # bytes; below, the gain is less than a header's length
_LEVEL = 2  # level 9 saves another 5 % and takes half as long again
_MEMORY = 5  # zlib's default, 8, takes four times as long for a short record: it clears more memory than it reads
_LONGEST = 32 * 1024 * 1024  # of an unpacked record, so that a forged one cannot fill memory
_ZLIB = b"x"  # the first byte of a zlib stream; a record's JSON begins with a brace


def pack(subject: str, data: bytes) -> bytes:
    """The bytes to store under that subject."""
    if len(data) < _PACK_FROM or not data.startswith(b"{") or subject.split(".")[1] in _AS_THEY_ARE:
        return data
    packing = zlib.compressobj(_LEVEL, memLevel=_MEMORY)
    return packing.compress(data) + packing.flush()


def unpack(data: bytes) -> bytes:
    """The record itself. Bytes that were never packed come back as they are, and so do those that cannot be unpacked."""
    if not data.startswith(_ZLIB):
        return data
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(data, _LONGEST)
    except zlib.error:
        return data
    return found if unpacking.eof and not unpacking.unused_data else data
