"""Documents on disk: which files belong to an index, their originals, and the groups that may read them.

Imports `index.snapshot` and the readers.
"""
