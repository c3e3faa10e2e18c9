"""A process that cuts the segments it is sent on standard input, until that is closed. See `parallel.py`."""

from __future__ import annotations

import os
import pickle
import sys

from incoop.inchdfs.cutting.parallel import search_segment


def main() -> None:
    """Answer each pickled Segment with pickled SegmentCuts, or with the error it met."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            answer: object = search_segment(pickle.load(requests))
        except EOFError:
            return
        except Exception as error:
            answer = error
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except BrokenPipeError:  # the process that asked is gone
            os._exit(0)


if __name__ == "__main__":
    main()
