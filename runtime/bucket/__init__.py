"""Snapshots between machines: pushed into a bucket, pulled into a folder, followed by a search process.

What a bucket holds stands in `bus.journal.bucket`, how a snapshot arrives on disk in `index.snapshot.arriving`.
"""

#: How many snapshots stay in a bucket.
KEEP = 3
