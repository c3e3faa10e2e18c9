"""Expressions: what is computed from a row.

- nodes.py: the kinds of expressions, typed; build.py: made with the casts that they need; walk.py: looked through and
changed
- rows.py: the meaning, row by row; evaluation.py: what an evaluation knows besides the row; flatten.py: values taken
apart into rows
- arrays.py: arrays from values and back; batches.py: rows as columns; columns.py: the same meaning on columns;
kernels.py: single operations on columns

Imports functions, types and order of `incoop.query`; pyarrow only in arrays.py, batches.py, columns.py and kernels.py.
"""
