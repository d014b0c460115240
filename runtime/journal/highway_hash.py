"""HighwayHash-64, the checksum of nats-server's records, over many records at once.

After Alakuijala, Cox and Wassenberg, "Fast keyed hash/pseudo-random function using SIMD multiply and permute", 2016.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

type Lanes = NDArray[np.uint64]

_INIT_0 = np.array([0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344, 0x243F6A8885A308D3], dtype=np.uint64)
_INIT_1 = np.array([0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C, 0x452821E638D01377], dtype=np.uint64)
#: Where each byte of a pair of lanes comes from when it is merged like a zipper.
_ZIP = [3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7]
_ZIPPER = np.array([*_ZIP, *(16 + each for each in _ZIP)])
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_PACKET = 32


def key_of(name: str) -> bytes:
    """The key under which nats-server hashes what has that name."""
    return hashlib.sha256(name.encode()).digest()


def hashes(key: bytes, texts: Sequence[bytes]) -> list[int]:
    """The hash of each text."""
    order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
    found = [0] * len(texts)
    sizes = np.array([len(texts[n]) for n in order], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(sizes) else sizes
    data = np.frombuffer(b"".join(texts[n] for n in order) + bytes(_PACKET), dtype=np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(data, _PACKET)
    state = _State(key, len(texts))
    whole = sizes // _PACKET
    # Longest first: those that still have a packet are always the first of them.
    for n in range(int(whole[0]) if len(whole) else 0):
        active = int(np.searchsorted(-whole, -n, side="left"))
        state.update(active, windows[starts[:active] + n * _PACKET])
    state.end([texts[n][len(texts[n]) // _PACKET * _PACKET :] for n in order])
    for place, value in zip(order, state.sums(), strict=True):
        found[place] = int(value)
    return found


class _State:
    """The state of each hash, a row each."""

    def __init__(self, key: bytes, count: int) -> None:
        lanes = np.frombuffer(key, dtype="<u8").astype(np.uint64)
        self.mul_0 = np.tile(_INIT_0, (count, 1))
        self.mul_1 = np.tile(_INIT_1, (count, 1))
        self.v_0 = self.mul_0 ^ lanes
        self.v_1 = self.mul_1 ^ ((lanes >> _HALF) | (lanes << _HALF))

    def update(self, active: int, packets: NDArray[np.uint8]) -> None:
        """Take a packet into each of the first `active` rows."""
        v_0, v_1 = self.v_0[:active], self.v_1[:active]
        mul_0, mul_1 = self.mul_0[:active], self.mul_1[:active]
        v_1 += mul_0 + np.ascontiguousarray(packets).view("<u8")
        mul_0 ^= (v_1 & _LOW) * (v_0 >> _HALF)
        v_0 += mul_1
        mul_1 ^= (v_0 & _LOW) * (v_1 >> _HALF)
        v_0 += _zipped(v_1)
        v_1 += _zipped(v_0)

    def end(self, rests: Sequence[bytes]) -> None:
        """Take in what is left of each text after its last whole packet."""
        rows = np.array([n for n, rest in enumerate(rests) if rest], dtype=np.int64)
        if len(rows):
            sizes = np.array([len(rests[n]) for n in rows], dtype=np.uint64)[:, None]
            part = _State(bytes(32), len(rows))
            part.mul_0, part.mul_1 = self.mul_0[rows], self.mul_1[rows]
            part.v_0 = self.v_0[rows] + (sizes << _HALF) + sizes
            halves = self.v_1[rows]
            low, high = halves & _LOW, halves >> _HALF
            part.v_1 = _rotated(low, sizes) | (_rotated(high, sizes) << _HALF)
            packets = np.frombuffer(b"".join(_padded(rests[n]) for n in rows), dtype=np.uint8).reshape(-1, _PACKET)
            part.update(len(rows), packets)
            self.v_0[rows], self.v_1[rows], self.mul_0[rows], self.mul_1[rows] = (
                part.v_0,
                part.v_1,
                part.mul_0,
                part.mul_1,
            )
        for _ in range(4):
            turned = self.v_0[:, [2, 3, 0, 1]]
            mixed = np.ascontiguousarray((turned >> _HALF) | (turned << _HALF))
            self.update(len(mixed), mixed.view(np.uint8).reshape(-1, _PACKET))

    def sums(self) -> Lanes:
        return self.v_0[:, 0] + self.v_1[:, 0] + self.mul_0[:, 0] + self.mul_1[:, 0]


def _zipped(lanes: Lanes) -> Lanes:
    return np.ascontiguousarray(lanes.view(np.uint8).reshape(-1, _PACKET)[:, _ZIPPER]).view(np.uint64)


def _rotated(halves: Lanes, by: Lanes) -> Lanes:
    """Each 32-bit number turned left."""
    return ((halves << by) & _LOW) | (halves >> (_HALF - by))


def _padded(rest: bytes) -> bytes:
    """The last packet of a text that does not fill it."""
    packet = bytearray(_PACKET)
    size, over = len(rest), len(rest) % 4
    packet[: size - over] = rest[: size - over]
    tail = rest[size - over :]
    if size & 16:
        packet[28:32] = rest[size - 4 :]
    elif over:
        packet[16], packet[17], packet[18] = tail[0], tail[over >> 1], tail[over - 1]
    return bytes(packet)
