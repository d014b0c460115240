"""The two search engines of a local index: Lucene for terms, hnswlib for vectors.

Imports `index.java`, `index.snapshot`, `index.embedders` and `index.text`.
"""
