"""PySpark's RDDs: a program's RDDs become stages of the engine, and what cannot be one is left to plain Spark.

Imports `fronts/common`, the session, the engine and what is below, and PySpark; no other way in.
"""
