"""Vectors of pieces, learnt with torch: in a batch of pairs each text must find its partner, by two scores.

The score of whole texts is the cosine of the sums of their vectors. The score of single pieces is the mean, over the pieces of the
shorter text, of the squared cosine with the nearest piece of the longer one, by the length of the piece's vector.
index/languages/meaning.py scores texts in the same two ways.
"""

import math
import time
from collections.abc import Callable

import click
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding_bag, normalize

from tests.bench.meaning.packing import Arrays

_SIZE, _RATE = 256, 4e-3
#: The pieces of a text that count: of a whole one, of one that looks for another by its pieces, and of the other.
_WHOLE, _ASKED, _FOUND = 112, 24, 96
#: The share of long texts that only a few pieces in a row are asked of, as in a question.
_CUT = 0.7


class Batches:
    """Pairs by chance, each batch of two languages, and the pieces of their texts."""

    def __init__(self, arrays: Arrays, device: str) -> None:
        self.device, self.cells = device, arrays["cells"].tolist()
        kinds = {"tokens": np.int64, "ends": np.int64, "pairs": np.int64, "weights": np.float64}
        self.tokens, self.ends, self.pairs, weights = (
            torch.from_numpy(arrays[name].astype(kind)).to(device) for name, kind in kinds.items()
        )
        self.sums = torch.cumsum(weights, 0)
        self.shares = torch.stack([weights[start:end].sum().sqrt() for start, end in self.cells])

    def draw(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """At most `count` different pairs: texts, their partners, groups."""
        start, end = self.cells[int(torch.multinomial(self.shares, 1))]
        before = self.sums[start - 1] if start else 0.0
        at = before + self.chance(count).double() * (self.sums[end - 1] - before)
        chosen = torch.unique(torch.searchsorted(self.sums, at).clamp(start, end - 1))
        one, other, group = self.pairs[chosen[torch.randperm(len(chosen), device=self.device)]].T
        return (one, other, group) if torch.rand(()) < 0.5 else (other, one, group)

    def chance(self, *shape: int) -> Tensor:
        return torch.rand(*shape, device=self.device)

    def lengths(self, texts: Tensor) -> Tensor:
        return self.ends[texts + 1] - self.ends[texts]

    def pieces(self, texts: Tensor, most: int, cut: float = 0.0) -> tuple[Tensor, Tensor]:
        """A row of pieces for each text, and which places are filled; the share `cut` of long texts has 4 to 17 pieces."""
        length = self.lengths(texts)
        short = (length > 16) & (self.chance(len(texts)) < cut)
        taken = torch.where(short, torch.minimum((4 + self.chance(len(texts)) * 14).long(), length), length)
        start = self.ends[texts] + (self.chance(len(texts)) * (length - taken + 1)).long()
        places = torch.arange(min(most, int(taken.max())), device=self.device)
        return self.tokens[(start[:, None] + places).clamp(max=len(self.tokens) - 1)], places < taken[:, None]


def train(
    arrays: Arrays, count: int, seconds: float, wholes: int, singles: int, clock: Callable[[], float] = time.monotonic
) -> NDArray[np.float32]:
    """A vector for each of `count` pieces. `wholes` and `singles` are the pairs of a batch for each score."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    batches = Batches(arrays, device)
    share = (torch.bincount(batches.tokens, minlength=count) + 1) / len(batches.tokens)
    short = (1e-3 / (1e-3 + share)).clamp(min=0.02)[:, None]  # frequent pieces
    vectors = (torch.randn(count, _SIZE, device=device) * 0.1 / math.sqrt(_SIZE) * short).requires_grad_()
    scales = torch.tensor([math.log(20.0), math.log(15.0)], device=device, requires_grad=True)
    parts = [{"params": [vectors]}, {"params": [scales], "lr": 1e-3}]
    adam = torch.optim.Adam(parts, lr=_RATE, betas=(0.9, 0.99), eps=1e-10)
    began, step, shown = clock(), 0, 0.0
    while (done := (clock() - began) / seconds) < 1:
        adam.param_groups[0]["lr"] = _RATE * max(0.02, min(50 * done, 1 - done))
        adam.zero_grad(set_to_none=True)
        one, other, group = batches.draw(wholes)
        sums = [_sum(vectors, *batches.pieces(texts, _WHOLE)) for texts in (one, other)]
        whole = _loss(sums[0] @ sums[1].T, group, scales[0])
        whole.backward()
        one, other, group = batches.draw(singles)
        if batches.lengths(one).sum() > batches.lengths(other).sum():
            one, other = other, one
        asked, found = batches.pieces(one, _ASKED, _CUT), batches.pieces(other, _FOUND)
        single = _loss(_by_pieces(vectors, *asked, *found), group, scales[1])
        single.backward()
        adam.step()
        step += 1
        if done >= shown:
            click.echo(f"{done:4.0%} {step} steps, loss {whole:.2f} of whole texts, {single:.2f} of single pieces")
            shown += 0.05
    return vectors.detach().cpu().numpy()


def _sum(vectors: Tensor, pieces: Tensor, filled: Tensor) -> Tensor:
    """The sums of the vectors, of length 1; a tenth of the pieces is left out by chance, never the first."""
    kept = filled & (torch.rand(filled.shape, device=filled.device) > 0.1)
    kept[:, 0] |= filled[:, 0]
    count = kept.sum(1)
    return normalize(embedding_bag(pieces[kept], vectors, torch.cumsum(count, 0) - count, mode="sum"), eps=1e-6)


def _by_pieces(vectors: Tensor, asked: Tensor, filled: Tensor, found: Tensor, held: Tensor) -> Tensor:
    """The score by single pieces of each asked text, a row, with each found one."""
    own, own_at = torch.unique(asked[filled], return_inverse=True)
    other, other_at = torch.unique(found[held], return_inverse=True)
    rows, kind = vectors[own], torch.bfloat16 if vectors.is_cuda else torch.float32
    cosines = normalize(rows).to(kind) @ normalize(vectors[other]).to(kind).T
    places = torch.zeros_like(found)
    places[held] = other_at
    places = torch.where(held, places, places[:, :1])  # an empty place repeats the first piece
    with torch.no_grad():
        nearest = torch.cat([_nearest(part, places) for part in cosines.split(1024)])
    likeness = torch.gather(cosines, 1, nearest).float().clamp(min=0).square()
    weights = torch.zeros(len(asked), len(own), device=vectors.device)
    weights[filled.nonzero()[:, 0], own_at] = 1.0
    weights = weights * rows.norm(dim=1)
    return (weights @ likeness) / (weights.sum(1, keepdim=True) + 1e-6)


def _nearest(cosines: Tensor, places: Tensor) -> Tensor:
    """For each row and each text the place with the highest cosine."""
    every = places.expand(len(cosines), *places.shape)
    best = cosines[:, places.reshape(-1)].view(every.shape).argmax(2, keepdim=True)
    return torch.gather(every, 2, best)[..., 0]


def _loss(scores: Tensor, group: Tensor, scale: Tensor) -> Tensor:
    """How badly texts find their partners, both ways; other texts of the group do not count."""
    same = (group[:, None] == group).fill_diagonal_(False)
    scores = (scores * scale.exp()).masked_fill(same, -60.0)
    partner = torch.arange(len(group), device=scores.device)
    return (cross_entropy(scores, partner) + cross_entropy(scores.T, partner)) / 2
