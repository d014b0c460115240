"""The one way an index says that it cannot do what was asked."""


class IndexProblem(Exception):
    """What is wrong with the index or its input, where, and the likely remedy, in one line."""
