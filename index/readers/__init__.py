"""One module per kind of document: bytes in, a Document with its blocks and pages out. `reading.py` chooses among them."""
