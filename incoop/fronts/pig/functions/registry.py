"""All functions that a Pig script can call, by name."""

from __future__ import annotations

from incoop.fronts.pig.functions import dates, nested, numbers, piggybank, text, tutorial
from incoop.fronts.pig.functions.aggregates import AGGREGATES, aggregate
from incoop.fronts.pig.functions.covariance import covariance
from incoop.fronts.pig.functions.java_format import sprintf
from incoop.fronts.pig.functions.request import Maker
from incoop.query.functions import GENERAL

_OWN = (
    *text.FUNCTIONS,
    *numbers.FUNCTIONS,
    *dates.FUNCTIONS,
    *nested.FUNCTIONS,
    *piggybank.FUNCTIONS,
    *tutorial.FUNCTIONS,
)
#: What queries know, and Pig's functions beside it.
PIG = GENERAL.extended(_OWN, AGGREGATES)
#: Those of Pig alone: a script cannot call `upper`.
FUNCTIONS = {each.name: each for each in _OWN}
#: Calls that need more than types.
MAKERS: dict[str, Maker] = {
    **text.MAKERS,
    **numbers.MAKERS,
    **dates.MAKERS,
    **nested.MAKERS,
    "SPRINTF": sprintf,
    "COR": covariance,
    "COV": covariance,
    **dict.fromkeys(AGGREGATES, aggregate),
}
ALIASES = piggybank.ALIASES
#: Every name that can be called.
NAMES = (*dict.fromkeys((*FUNCTIONS, *MAKERS, *ALIASES)),)
