"""The Java machine: its start, its warm-up, and calls into Lucene.

Imports nothing else of the index but languages and errors.
"""
