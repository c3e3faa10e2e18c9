"""Runs of stages: one driver for all kinds, which decides purely and acts in one place.

    driver.py            one run, top to bottom: look, decide, run, keep, commit
    stage.py             what a kind of stage is to the driver
    stages/              one folder a kind; adding one touches nothing else
    running/             who carries work out: Spark, a cluster, threads of this process
    events.py            what happened; report.py reads it
    record.py keeper.py  what a run leaves, and how it is written
    blocks.py                       what a task reads: a chunk of a file, or another run's pairs
    inputs.py output.py save.py     what goes in, what comes out

Imports base, inchdfs, contraction, scheduler, memo, fingerprint, code and job.
"""
