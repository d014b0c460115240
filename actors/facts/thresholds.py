"""Every threshold of the reading of numbers: its value, its meaning, and the figure that it affects."""

from typing import Final

# ---- changed numbers withheld, true sentences withheld

#: Weights of the words around a number, on each side, nearest first.
CONTEXT_WEIGHTS: Final = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.2)
#: Relative weight of a word at another distance.
MOVED_WEIGHT: Final = 0.7
#: Two numbers without a common word among this many on a side are not compared.
NEAREST_WORDS: Final = 2

# ---- seconds of the gate for a long list of numbers or addresses

#: A number is compared with at most this many others, those with its rarer neighbours first.
NEAR_SLOTS: Final = 64
#: This many texts stay read: the evidence of a few runs at once.
READ_TEXTS: Final = 512
