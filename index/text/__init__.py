"""Text without an index: sentences, passages, n-grams, codes, overlap.

Imports `index.languages` and the vocabulary of the index.
"""
