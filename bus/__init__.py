"""Everything that knows NATS: messages, actors, the journal, and the Protocols of the three powers with their bodies.

From `prompts` it takes only `vocabulary`, from `index` only the ranges of the scripts. faststream and nats-py are imported
here and nowhere else.
"""
