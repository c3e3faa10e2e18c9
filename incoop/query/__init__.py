"""Queries: typed plans over rows, which know neither of a way in nor of the engine.

- types.py, schema.py, errors.py: what fields hold, how they are named, what can be wrong with a query and where
- numbers.py, moments.py, nested_text.py, casts.py: values read, printed and cast
- order.py: a total order over all values, as Python keys and as bytes; warnings.py: what went wrong with single values
- functions/: functions of values, and aggregates with states that merge in any order
- expressions/: what is computed from a row; evaluated row by row (the meaning) and on columns (fast)
- sources/: bytes of whole records to rows or columns, and rows to text
- partial.py: rows or columns to (key, states)
- plan/: the logical plan; rules/: what rewrites it, one rule a file

Imports `incoop.base`, numpy, and pyarrow where columns are evaluated.
"""
