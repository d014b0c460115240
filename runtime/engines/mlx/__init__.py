"""The accelerator: one thread owns it, and every module here but `engine`, `os_thread`, `settings`, `tickets` and `records` imports mlx.

    engine (asyncio)  --jobs-->  device_thread  -->  prefill, batch (one step for all rows)  --tickets-->  engine

Import these modules only when the engine starts, so that a machine without mlx can run every other engine.
"""
