"""The vocabulary of the bus: messages, requests, subjects and errors.

Imports nothing of the bus. Every other package of the bus may import it.
"""
