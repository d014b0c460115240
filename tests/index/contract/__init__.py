"""What every body of an index keeps to, whatever it is built on: the same tests over each."""
