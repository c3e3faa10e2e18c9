"""A map/reduce job: chunks are mapped, their runs contracted in a tree, changed keys reduced.

stage.py state.py                    the stage, and the value that its steps are given and give
identity.py plan.py                  what decides: pure
decision.py explain.py               what was decided, and why
steps.py                             the order of the steps: one value
map_step.py contract_step.py         the two steps, as the driver sees them
map_task.py contract_task.py         ... as they run in a worker
reducing.py column_reducer.py        a key's values to pairs, key by key or by column
record.py result_entries.py tallies.py         what is kept
mapping.py grouping.py segments.py spill.py    records to pairs, pairs to a run
chunk_sources.py leaves.py text_leaves.py pair_leaves.py    a chunk's records, and its leaves: of bytes, of pairs
recut_leaves.py                      the leaves of a chunk of which only what is new is read
leaf_table.py chunk_leaves.py        what each leaf of a chunk sent
patching.py leaf_entries.py key_numbers.py     a changed chunk, described by the one before it
write_chunk.py                       a chunk, written whole or as what changed
map_only.py                          a chunk of a job without a reducer: its pairs, in input order
soundness.py rounding.py             a combiner, tried on a sample
verify.py                            a share, computed again
"""
