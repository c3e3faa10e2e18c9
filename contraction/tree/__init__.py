"""The tree over runs: which children make a node, what their combination is, and how it is updated.

    shape.py                                  which children make a node
    combine.py folds.py known_combiners.py    combining runs
    node.py alignment.py sums.py              one shard of a node: from scratch, key by key, or by addition
    node_of_shards.py                         some shards of it: what is looked up is looked up for all of them

Imports parts, columns and base.
"""
