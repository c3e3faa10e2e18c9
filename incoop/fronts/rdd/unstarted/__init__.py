"""Spark's entry points before Spark is started: a program's context and session, which start when somebody needs them.

An object here is what PySpark's class of the same name is: it answers what is known without a JVM, and becomes the real
one, in place, at the first question that is not. `settings.py`, `asked.py` say what was asked of Spark; `context.py`,
`session.py`, `broadcast.py`, `local_data.py` and `text_frame.py` are the objects; `engine_spark.py` lets the engine
start them, too. Imports PySpark, the engine and `hadoop_paths.py`; nothing else of `fronts/rdd`.
"""
