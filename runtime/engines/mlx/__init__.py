"""The engine for a local model on this machine's accelerator (mlx), which one thread owns.

    engine (asyncio)  --jobs-->  device_thread  -->  prefill, batch (one step for all rows)  --tickets-->  engine

`engine` can be imported without mlx and loads the rest when it starts, so a machine without mlx can run every other engine.
"""
