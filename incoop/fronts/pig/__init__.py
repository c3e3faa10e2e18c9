"""Pig Latin: scripts that are run again at the cost of what changed.

syntax/           a script's text to its syntax tree, pure

Imports `common` and the rooms below.
"""
