"""Who carries work out, and what happens around it in a worker. Knows no kind of stage.

work.py runner.py                    the work of a step; who gets it
spark.py early_results.py progress.py worker_process.py     Spark tasks
cluster.py placing.py                ... beside what they read
nearby.py apart.py                   threads of this process; a process of its own
user_code.py counters.py             what users' functions raise and count
"""
