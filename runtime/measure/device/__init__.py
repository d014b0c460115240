"""What the device can do on this machine, measured against mlx-lm's own loop and server.

`python -m runtime.measure.device MODEL`, or `groundwire bench inference --model MODEL`. Needs nothing but the engine itself.
"""
