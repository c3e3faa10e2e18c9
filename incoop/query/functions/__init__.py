"""Functions of values and aggregates of rows, by name.

- function.py: what a function is, and the registry that a way in extends; aggregate.py: what an aggregate is
- text_functions.py, math_functions.py, date_functions.py, nested_functions.py: the functions
- aggregates.py: the aggregates; exact.py: sums of floats that do not depend on the order of adding

Imports types, order, numbers and casts of `incoop.query`; pyarrow only where a kernel is called.
"""

from __future__ import annotations

from incoop.query.functions import date_functions, math_functions, nested_functions, text_functions
from incoop.query.functions.aggregates import AGGREGATES
from incoop.query.functions.function import Registry

#: What every way in begins with.
GENERAL = Registry(
    {
        each.name: each
        for each in (
            *text_functions.FUNCTIONS,
            *math_functions.FUNCTIONS,
            *date_functions.FUNCTIONS,
            *nested_functions.FUNCTIONS,
        )
    },
    AGGREGATES,
)
