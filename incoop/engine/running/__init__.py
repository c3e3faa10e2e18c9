"""Who carries work out, and what happens around it in a worker. Knows no kind of stage.

work.py runner.py where.py           the work of a step; who gets it; the decision
workforce.py progress.py             who there is; how far they are
spark.py started_contexts.py early_results.py  Spark tasks
cluster.py shard_places.py           ... beside what they read
processes.py helpers.py zygote_handle.py messages.py  worker processes of our own, from the driver's side
zygote.py worker_loop.py             ... and from theirs
nearby.py fresh_process.py           threads of this process; a process of its own
worker_process.py                    what happens around a task in a worker, of Spark's or ours
worker_failed.py user_code.py counters.py     what users' functions do to a worker, raise and count
"""
