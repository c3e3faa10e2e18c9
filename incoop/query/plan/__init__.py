"""The logical plan: what is asked for, as typed relations.

- node.py: what a node is; single.py: nodes with one input or none; several.py: joins, groups, unions
- digest.py: what a plan computes, as a hash; show.py: plans and expressions as people read them

Imports expressions, functions, partial aggregates and formats of `incoop.query`.
"""
