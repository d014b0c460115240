"""From a message in the journal to its actor and back: declaration, graph, admission, execution.

Imports all of the bus but `bus.runs`.
"""
