"""Ways in for jobs that were written for something else."""
