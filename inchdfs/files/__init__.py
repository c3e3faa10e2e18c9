"""The user's files: those that paths, globs and folders stand for, what is in them, and the chunks of one.

Imports cutting, base and inchdfs.errors.
"""
