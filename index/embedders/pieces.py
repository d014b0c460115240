"""The default embedder: the sum of the vectors of a text's pieces of words, learnt for six languages (languages/meaning.py).

It needs no download, no server and no fit: a text has the same vector in every index, and near texts of two languages are near.
"""

from collections.abc import Sequence
from typing import Final

from index.embedders.embedder import EmbedderSpec, Vectors
from index.languages.meaning import DIMENSION, directions
from index.text.question_words import without_question_words

NAME: Final = "pieces"
#: Another number where the vectors of meaning.npy are others.
_VERSION: Final = "1"
_THRESHOLD: Final = 0.2
SPEC: Final = EmbedderSpec(NAME, _VERSION, DIMENSION, _THRESHOLD)


class Pieces:
    """An Embedder."""

    spec = SPEC

    def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        return directions([without_question_words(text) for text in texts] if query else texts)
