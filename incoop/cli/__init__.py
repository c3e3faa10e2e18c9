"""The `incoop` command: a file for each subcommand, which reads its options, calls one thing and prints what it says.

Contract: results on standard output; a report on standard error when done, as JSON on its last line when asked for; a
progress line only on a terminal. What does not exist is an error (exit code 1), and nothing is created.

May import everything, but what takes long to import only when the subcommand runs. Nobody imports from here.
"""
