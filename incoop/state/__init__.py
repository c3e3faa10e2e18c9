"""Keyed state that outlives a run: a value for each key, in versions that share what they have in common.

keyed_state.py      versions, read by keys, changed by keys, compared

Imports base and contraction. Who uses it says where packs are read and written, and keeps a version alive by an entry
that names its packs.
"""
