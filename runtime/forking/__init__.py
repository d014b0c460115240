"""Forks: a recorded run again from one of its stages, with other prompts, profile or engine.

Imports `runtime.replay`.
"""
