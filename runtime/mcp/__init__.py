"""The Model Context Protocol, served by its official SDK.

`server` registers the tools, resources and prompt with the SDK; `tools` declares a tool and its caller, the peer. `stdio` carries
messages over two byte streams; `http` and `exchange` carry them over HTTP. The edge imports only `http` at its start; the SDK
takes a second.
"""
