"""Engines: each answers prompts, in a folder of its own, behind the Protocol in `engine.py`.

An engine is a plug-in: an entry point in the group `groundwire.engines` that names its function `make(settings, wiring)`.
"""
