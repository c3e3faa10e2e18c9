"""Where each task should run: pure placement decisions, a simulation of them, and a hint for Spark's locality.

Imports base only.
"""
