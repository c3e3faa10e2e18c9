"""A map/reduce job: chunks are mapped, their runs contracted in a tree, changed keys reduced.

stage.py state.py                    the stage, and what its steps work on
identity.py plan.py explain.py       what decides: pure
map_step.py contract_step.py         the two steps, as the driver sees them
map_task.py contract_task.py         ... as they run in a worker
record.py keep.py tallies.py         what is kept
mapping.py grouping.py summing.py spill.py     records to a run
leaves.py leaf_table.py patching.py  a changed chunk from what did not change in it
soundness.py alike.py                a combiner, tried on a sample
verify.py                            a share, computed again
"""
