"""Text to vectors: the built-in vectors, a server with OpenAI's interface, and rerankers.

Imports `index.text`.
"""
