"""Modules that users' files import as if Pig were installed: this folder is put last on Python's path.

- pig_util.py: decorators that say what a function gives

Imports nothing of ours: its modules are imported under their own names, in every process that functions travel to.
"""
