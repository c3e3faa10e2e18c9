"""Datasets with versions: manifests, chunks in packs, indexes of files that stay where they are; compared, cleaned up.

Imports files, cutting, base and inchdfs.errors.
"""
