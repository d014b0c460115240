"""The one exception by which an index reports that it cannot do what was asked."""


class IndexProblem(Exception):
    """The problem of the index or its input, its place, and the likely remedy, in one line."""


class NotFetched(IndexProblem):
    """There is no snapshot yet: it is on its way from a bucket."""
