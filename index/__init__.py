"""Documents in, hits out: readers, passages, languages, BM25, vectors, fusion, snapshots. Synchronous; knows nothing of the bus.

pyserini and hnswlib are imported here and nowhere else.
"""
