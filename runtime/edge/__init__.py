"""The HTTP edge: requests in, event streams out. The only place that knows aiohttp; it reaches the pipeline through `bus.runs`."""
