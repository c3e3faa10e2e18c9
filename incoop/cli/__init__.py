"""The `incoop` command: a file for each subcommand, which reads its options, calls one thing and prints what it says.

May import everything, but what takes long to import only when the subcommand runs. Nobody imports from here.
"""
