"""Care for a store folder and its machine: collecting, verifying, computing again, saying what is missing.

Imports the session, the engine's records, the memo, the dataset store and the ways in; nothing but the command line
imports this. What is done to one part of a store is that part's: here the parts come together.
"""
