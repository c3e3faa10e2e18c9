"""Pig Latin: scripts that are run again at the cost of what changed.

syntax/           a script's text to its syntax tree, pure
types.py          types as a script writes them, and as DESCRIBE prints them
named_paths.py    how a script writes paths
schema_text.py    schemas that are written in a text of their own
functions/        Pig's functions by their names; udfs/: the user's own; formats/: loaders and storers
errors.py         what is wrong with a script, at its place
translation/      syntax trees to plans
running/          statements in turn, in batches that are one query each

Imports `common` and the rooms below.
"""
