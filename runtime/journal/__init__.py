"""The journal's files on disk, as nats-server writes them: read through and repaired before the server starts.

May import numpy, and of the bus its names.
"""
