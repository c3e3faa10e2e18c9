"""Who carries work out: where it goes, and what user code may do to the processes that do it."""
