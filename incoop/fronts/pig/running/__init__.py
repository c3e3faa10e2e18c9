"""Statements carried out: a script to steps, steps in batches, each batch one query.

- steps.py: what is done in turn; prepare.py: a script to steps, before anything runs
- paths.py: what LOAD's globs and lists stand for; batches.py: outputs that run together;
  checks.py: what is looked at before the first
- shell.py: `fs`, `sh` and their kin; show.py: what DUMP and ILLUSTRATE print; run.py: the steps, one after the other

Imports the rooms below, `incoop.query` and what runs it.
"""
