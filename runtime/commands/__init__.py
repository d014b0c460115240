"""The subcommands of `groundwire`, one module each; `runtime.cli` puts them together."""
