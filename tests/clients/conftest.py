"""The edge for the real clients, over a pipeline with answers set by a test."""

import pytest

from tests.browser import chromium
from tests.clients.installed import HERE, INSTALL_S
from tests.runtime.edge.conftest import bus, bus_settings, edge, http, pipeline, runs

__all__ = ["bus", "bus_settings", "chromium", "edge", "http", "pipeline", "runs"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first test of a client installs it, and those of other processes wait for that."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(INSTALL_S + 300))
