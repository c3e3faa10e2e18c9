"""Where each task should run: pure placement decisions, and a hint for Spark's locality."""
