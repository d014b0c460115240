"""Documents in, hits out: reading, passages, languages, BM25, vectors, fusion, snapshots. Synchronous; knows no bus.

pyserini and hnswlib are imported here and nowhere else.
"""
