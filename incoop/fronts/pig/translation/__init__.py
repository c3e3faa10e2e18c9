"""Syntax trees to plans: what each statement and each expression means.

- scope.py: what names mean
- terms.py: expressions; calls.py: functions in them; made.py: tuples and bags that are written
- generate.py: what GENERATE makes; blocks.py: nested blocks
- relations.py: an operator to a relation, through row_operators.py (one input), groups.py (GROUP, CUBE),
  several_inputs.py (JOIN, UNION, CROSS), loads.py (LOAD, STORE) and streams.py (STREAM)

Pure, but for REGISTER's functions: nothing is read, nothing runs. Errors are those of `incoop.query`, with positions
of the script. Imports the rooms below and `incoop.query`.
"""
