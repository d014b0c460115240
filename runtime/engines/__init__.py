"""Engines: what answers a prompt. Each module holds one, behind the Protocol in `engine.py`."""
