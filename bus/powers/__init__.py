"""The three powers of an actor, `ask`, `search` and `emit`: the Protocols and both ends of each over the bus.

Imports `bus.wire`, `bus.transport` and `bus.journal`.
"""
