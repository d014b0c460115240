"""An immutable snapshot as a folder of files: segments, store, catalogue, and the filtered views of it.

Imports `index.text` and `index.embedders`.
"""
