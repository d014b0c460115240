"""Engines: what answers a prompt, a folder each, behind the Protocol in `engine.py`. `choice` makes the one that settings name."""
