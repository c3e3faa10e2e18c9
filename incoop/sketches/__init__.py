"""Sketches: how many different values there are, and quantiles, in little memory, to within an error.

distinct.py     how many different values (HyperLogLog)
quantiles.py    quantiles of numbers (the bins of DDSketch)

Contract: sketches merge canonically. What a sketch holds follows from the values that were put in, not from their order
nor from how sketches of some of them were merged: equal bytes, however a tree combined them, on every machine. So they
are fit as values of a combiner; a t-digest, a KLL sketch or a sum of floats is not, since an incremental result would
differ from one from scratch. They are immutable, and pickled as their bytes.

Imports base, and the encoding of values.
"""

from __future__ import annotations

from incoop.sketches.distinct import Distinct
from incoop.sketches.quantiles import Quantiles

__all__ = ["Distinct", "Quantiles"]
