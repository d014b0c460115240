"""Text to vectors: the built-in LSA, a server with OpenAI's interface, and rerankers.

Imports `index.text`.
"""
