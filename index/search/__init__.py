"""Searching: candidates of both engines, fusion, ranking, hits.

Imports `index.engines` and what lies below them. Knows nothing of building.
"""
