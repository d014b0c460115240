"""The contract of every implementation of an index: the same tests over each."""
