"""Choosing what answers a question among the blocks of the passages found, and how probable it is that it does."""
