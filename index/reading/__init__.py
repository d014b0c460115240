"""Reading documents in processes of their own, with limits of time and memory.

Imports the readers, `index.text` and `index.snapshot`.
"""
