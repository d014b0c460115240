"""The HTTP edge: requests in, event streams out. Each route is declared with its handler; `bus` leads to the pipeline.

May import bus, prompts and index, and from runtime only its settings; `runtime.processes.edge` opens the port.
"""
