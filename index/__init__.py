"""Documents in, hits out: readers, passages, languages, BM25, vectors, fusion, snapshots. Synchronous, and independent of the
bus.

pyserini and hnswlib are imported here and nowhere else.
"""
