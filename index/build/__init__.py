"""Building and updating an index: from folders of documents to a published snapshot.

The top of `index`: imports everything else of it.
"""
