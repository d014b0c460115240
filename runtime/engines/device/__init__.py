"""The accelerator: one thread owns it, and every module here but `settings`, `tickets` and `records` imports mlx.

    mlx_engine (asyncio)  --jobs-->  thread  -->  prefill, batch (one step for all rows)  --tickets-->  mlx_engine

Import these modules only when the engine starts, so that a machine without mlx can run every other engine.
"""
