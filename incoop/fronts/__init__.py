"""Ways in, for jobs that were written for something else or are run in another way: one folder each, and `common/` for
what several need.

A way in imports the session, jobs and results, the engine's errors, reports and blocks, and the rooms below; never
another way in. Nothing below imports one, but for the session, when it is first asked for an RDD.
"""
