"""Keyed collections and their trees: step 3 of a run, contract.

    columns/    many pairs as columns: encoded, hashed, sorted by key hash
    parts/      their stored form: blocks in packs, and the headers that find and verify them
    tree/       a content-shaped tree of combiners over the map outputs

Each imports those above it here, and base; none knows where packs are kept.
"""
