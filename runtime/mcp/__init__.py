"""The Model Context Protocol: what Groundwire offers to a program that works with a language model.

`schemas` and `versions` are the protocol's own; `server` answers its methods, for one caller, over whatever carries the messages;
`tools`, `resources` and `prompts` are what it offers; `stdio` carries messages over a process's own input and output, and
`runtime.edge.mcp` over HTTP.
"""
