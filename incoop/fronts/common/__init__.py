"""What several ways in share: which files a command leads to, refused combiners, one report for several jobs.

Imports the engine's errors and reports and what is below them; no way in.
"""
