"""Windows: a run on the newest part of an input.

- `window.py`   which part: so many files, chunks or bytes, or a span of time; a value, also from text
- `choose.py`   which chunks that are, and which of them it ends in: pure
- `times.py`    the times of records, found by memoized tasks
- `windowed.py` the two together: an input for a run

A window is a dataset that loses chunks on the left. It may import the engine, and knows no way in.
"""
