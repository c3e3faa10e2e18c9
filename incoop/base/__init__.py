"""What everything stands on: errors, checksums, ids, paths, names of stages, files written whole, and what a
file's stamp tells.

Imports nothing of ours; every room may import it.
"""
