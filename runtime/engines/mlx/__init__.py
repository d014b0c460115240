"""The accelerator: one thread owns it, and all modules but `engine`, `os_thread`, `settings`, `tickets` and `records` import mlx.

    engine (asyncio)  --jobs-->  device_thread  -->  prefill, batch (one step for all rows)  --tickets-->  engine

Import these modules only when the engine starts, so that a machine without mlx can run every other engine.
"""
