"""Benchmark the inference device on this machine against mlx-lm's own loop and server.

`python -m runtime.measure.device MODEL`, or `groundwire bench inference --model MODEL`. Needs nothing but the engine itself.
"""
