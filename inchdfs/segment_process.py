"""A process that cuts the segments it is sent on standard input, until that is closed. See `parallel.py`."""

from __future__ import annotations

import pickle
import sys

from inchdfs.parallel import search_segment


def main() -> None:
    """Answer each pickled Segment with pickled SegmentCuts, or with the error it met."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            segment = pickle.load(requests)
        except EOFError:
            return
        try:
            answer: object = search_segment(segment)
        except Exception as error:
            answer = error
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
