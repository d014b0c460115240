"""The HTTP edge: requests in, event streams out. Each route is declared beside its handler, and only `bus` reaches the pipeline.

May import bus, prompts and index, and of the runtime its settings alone; `runtime.processes.edge` opens the port.
"""
