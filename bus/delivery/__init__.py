"""From a message in the journal to its actor and back: declaration, graph, admission, execution.

Imports all of the bus; of `bus.runs` only a run's story, record and citations.
"""
