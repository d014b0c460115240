"""The subcommands of `groundwire`, one module each, beside the options they share; `runtime.cli` lists them."""
