"""Find what a code object refers to outside itself: globals, imports, captured variables, and attributes of those.

Contract: every global name, captured name and import that the code (or code inside it) can load is in the result. A
chain of attributes is given as far as it follows the load directly (`helpers.text.clean(x)` is the root `helpers` with
attributes `text`, `clean`), so a root without attributes means "used as a whole". A local variable that is stored once
from such a chain (`import helpers as h`, `choose = random.choice`) is looked through.
"""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from incoop.fingerprint.instructions import ATTRIBUTE_LOADS, Instruction, cached_by_identity, instructions, nested_codes

GLOBAL_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
LOCAL_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_FAST_AND_CLEAR"})
CAPTURED_LOADS = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
VARIABLE_STORES = frozenset({"STORE_FAST", "STORE_DEREF"})

# Between `import a.b as c` and its store.
IMPORT_SHUFFLE = frozenset({"SWAP", "ROT_TWO", "POP_TOP"})

#: LOADED says only that an import of the module runs; IMPORT says what is then taken from it.
GLOBAL, CAPTURED, IMPORT, LOADED = "global", "captured", "import", "loaded"


@dataclass(frozen=True, slots=True)
class Use:
    """One load of something from outside, with the attributes taken from it at once."""

    #: GLOBAL, CAPTURED, IMPORT or LOADED.
    scope: str
    #: The name of the variable, or of the module.
    root: str
    attributes: tuple[str, ...] = ()
    #: For an import: how many dots stood before the name.
    level: int = 0
    line: int | None = None
    #: The number of arguments when the result is called at once, else None.
    arguments: int | None = None


@cached_by_identity
def uses(code: CodeType) -> tuple[Use, ...]:
    """Return what `code` loads from outside, in the order of its instructions.

    Example:
        >>> def words(line):
        ...     import random as dice
        ...     return dice.choice(line.split(SEPARATOR))
        >>> [(use.scope, use.root, use.attributes) for use in uses(words.__code__)]
        [('loaded', 'random', ()), ('import', 'random', ('choice',)), ('global', 'SEPARATOR', ())]
    """
    return tuple(_scan(code, {}))


def _scan(code: CodeType, inherited: Mapping[str, Use]) -> Iterator[Use]:
    steps = instructions(code)
    stores = _store_counts(code, steps)
    # Two rounds: a loop may load a name above the place where it is stored.
    known = dict(inherited)
    for _ in range(2):
        found: list[Use] = []
        position = 0
        while position < len(steps):
            position = _read(code, steps, position, stores, known, found)
    yield from found
    for inner in nested_codes(code):
        yield from _scan(inner, {name: known[name] for name in inner.co_freevars if name in known})


def _read(
    code: CodeType,
    steps: Sequence[Instruction],
    position: int,
    stores: Counter[str],
    known: dict[str, Use],
    found: list[Use],
) -> int:
    """Read the load at `position`, add its uses, remember a variable it is stored in; return where to go on."""
    step = steps[position]
    if step.op == "IMPORT_NAME":
        return _read_import(code, steps, position, stores, known, found)
    use = _root(code, step, known)
    if use is None:
        return position + 1
    position += 1
    attributes = list(use.attributes)
    while position < len(steps) and steps[position].op in ATTRIBUTE_LOADS:
        attributes.append(str(steps[position].value))
        position += 1
    use = replace(use, attributes=tuple(attributes), line=step.line)
    if _remember(code, steps, position, use, stores, known):
        return position + 1
    found.append(replace(use, arguments=_argument_count(steps, position)))
    return position


def _root(code: CodeType, step: Instruction, known: Mapping[str, Use]) -> Use | None:
    if step.op in GLOBAL_LOADS:
        return Use(GLOBAL, str(step.value))
    name = step.value
    if step.op in LOCAL_LOADS and isinstance(name, str):
        return known.get(name) if name in code.co_varnames else None
    if step.op in CAPTURED_LOADS and isinstance(name, str):
        if name in known:
            return known[name]
        return Use(CAPTURED, name) if name in code.co_freevars else None
    return None


def _read_import(
    code: CodeType,
    steps: Sequence[Instruction],
    position: int,
    stores: Counter[str],
    known: dict[str, Use],
    found: list[Use],
) -> int:
    step = steps[position]
    level, names = steps[position - 2].value, steps[position - 1].value
    module = Use(IMPORT, str(step.value), level=level if isinstance(level, int) else 0, line=step.line)
    found.append(replace(module, scope=LOADED))
    position += 1
    if isinstance(names, tuple):  # from module import name, ...
        while position < len(steps) and steps[position].op == "IMPORT_FROM":
            part = replace(module, attributes=(str(steps[position].value),))
            if not _remember(code, steps, position + 1, part, stores, known):
                found.append(part)
            position += 2
        return position
    if steps[position].op == "IMPORT_FROM":  # import a.b as c
        while steps[position].op == "IMPORT_FROM" or steps[position].op in IMPORT_SHUFFLE:
            position += 1
        target = module
    else:  # import a.b binds a
        target = replace(module, root=module.root.partition(".")[0])
    if not _remember(code, steps, position, target, stores, known):
        found.append(target)
    return position + 1


def _remember(
    code: CodeType, steps: Sequence[Instruction], position: int, use: Use, stores: Counter[str], known: dict[str, Use]
) -> bool:
    """Note that the next instruction stores `use` in a variable that is stored nowhere else; say if so."""
    if position >= len(steps) or steps[position].op not in VARIABLE_STORES:
        return False
    name = str(steps[position].value)
    parameters = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x4) + bool(code.co_flags & 0x8)
    if stores[name] != 1 or name in code.co_varnames[:parameters] or name in code.co_freevars:
        return False
    known[name] = use
    return True


def _store_counts(code: CodeType, steps: Sequence[Instruction]) -> Counter[str]:
    counts = Counter(str(step.value) for step in steps if step.op in VARIABLE_STORES or step.op.startswith("DELETE_"))
    for inner in nested_codes(code):
        counts.update(
            {
                name: count
                for name, count in _store_counts(inner, instructions(inner)).items()
                if name in inner.co_freevars
            }
        )
    return counts


def _argument_count(steps: Sequence[Instruction], position: int) -> int | None:
    """Return how many arguments the value just loaded is called with, by following the stack's height."""
    height = 0
    for step in steps[position:]:
        if step.op in ("PRECALL", "CALL", "CALL_KW") and step.arg == height - (step.op == "CALL_KW"):
            return step.arg
        if step.kind == "jump" or height < 0:
            return None
        if step.op == "PUSH_NULL" and height == 0:
            continue
        height += dis.stack_effect(dis.opmap[step.op], step.arg, jump=False)
    return None
