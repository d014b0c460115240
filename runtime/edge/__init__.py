"""The HTTP edge: requests in, event streams out. Each route is declared with its handler; `bus` leads to the pipeline.

Imports no process and no engine; `runtime.processes.edge` opens the port.
"""
