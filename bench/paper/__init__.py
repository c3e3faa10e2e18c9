"""The Incoop paper's evaluation on this code: `python -m bench paper`."""
