"""The edge that the real clients talk to, over a pipeline that answers as a test tells it."""

from tests.runtime.edge.conftest import bus, bus_settings, edge, http, pipeline, runs

__all__ = ["bus", "bus_settings", "edge", "http", "pipeline", "runs"]
