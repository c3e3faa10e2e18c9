"""What Python files import from `pig_util`, or find without importing it: decorators that say what a function gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_Decorator = Callable[[Any], Any]


def outputSchema(schema: str) -> _Decorator:  # noqa: N802 (Pig's name)
    """Say what a function gives: `@outputSchema("word: chararray")`."""
    return _marking("outputSchema", schema)


def outputSchemaFunction(name: str) -> _Decorator:  # noqa: N802 (Pig's name)
    """Name the function that says what this one gives, from what it is given."""
    return _marking("outputSchemaFunction", name)


def schemaFunction(name: str) -> _Decorator:  # noqa: N802 (Pig's name)
    """Mark a function that says what another gives."""
    return _marking("schemaFunction", name)


def _marking(name: str, value: str) -> _Decorator:
    def decorate(function: Any) -> Any:
        setattr(function, name, value)
        return function

    return decorate
