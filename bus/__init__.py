"""Messages, actors, the journal and the three powers' Protocols: everything that knows NATS.

Imports neither `prompts` nor `index`. faststream and nats-py are imported here and nowhere else.
"""
