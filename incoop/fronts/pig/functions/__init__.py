"""Pig's functions by their names: builtins, and the small ones of the piggybank and the tutorial that scripts use.

What an analysis calls: `call(name, arguments, …)` gives the expression of a call, whichever kind it is; `matches`
that of MATCHES; `PIG` is the registry behind both.

- calls.py: a call to an expression; request.py: what a call says; registry.py: all names
- java_names.py: full names of Java classes to ours, and what is said of the others
- aggregates.py: functions over a bag that are aggregates, so that no bag is needed where only they look at it
- text.py, numbers.py, dates.py, nested.py: builtins; piggybank.py, tutorial.py: what others brought
- java_regex.py (with java_classes.py), java_format.py, date_patterns.py: Java's notations in Python

Imports `incoop.query`.
"""

from __future__ import annotations

from incoop.fronts.pig.functions.calls import call, is_function, matches
from incoop.fronts.pig.functions.java_names import JavaFunction
from incoop.fronts.pig.functions.registry import PIG

__all__ = ["PIG", "JavaFunction", "call", "is_function", "matches"]
