"""The HTTP edge: requests in, event streams out. Each route is declared beside its handler; the pipeline is reached through `bus`.

May import bus, prompts and index, and from runtime only its settings; `runtime.processes.edge` opens the port.
"""
