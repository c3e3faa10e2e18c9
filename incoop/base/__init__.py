"""What everything stands on: errors, checksums, ids, paths, files written whole, and what a file's stamp tells.

Imports nothing of ours; every room may import it.
"""
