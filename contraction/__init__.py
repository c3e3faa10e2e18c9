"""Step 3 of a run, contract: a content-shaped tree of combiners over the map outputs."""
