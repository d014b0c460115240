"""The engine that answers from a trace."""
