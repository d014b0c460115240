"""One module per kind of document: bytes in, a Document with its blocks and pages out. `index/documents/files.py` chooses
among them.
"""
