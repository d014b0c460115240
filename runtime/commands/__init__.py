"""The subcommands of `groundwire`, one module each, and the options they share; `runtime.cli` lists them."""
