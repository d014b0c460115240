"""NATS itself: connections, users, streams, requests with one reply, and following a stream.

Imports `bus.wire` alone of the bus, and knows nothing of runs.
"""
