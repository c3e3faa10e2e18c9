"""The `incoop` command: one module per family of subcommands."""
