"""The processes: inference, search, actors, edge, their supervisor and the command line. Imports everything below it."""
