"""Outputs that run together.

Contract: what is stored before a DUMP, an EXEC, a command of the shell or the end is one batch, one query with shared
stages; what loads a folder that the same batch stores into waits for the next round.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from incoop.fronts.pig.named_paths import choices_of, parts_of
from incoop.fronts.pig.running.steps import DumpStep, IllustrateStep, Loads, StoreStep
from incoop.query.expressions.walk import scalars
from incoop.query.plan.node import Plan
from incoop.query.plan.single import Scan

#: A step that has rows.
Output = StoreStep | DumpStep


def scans_of(plan: Plan) -> list[str]:
    """Names of what a plan reads, also for the values of other relations in its expressions."""
    found: dict[str, None] = {}
    waiting, seen = [plan], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Scan):
            found[node.name] = None
        waiting += [each.plan for expression in node.expressions() for each in scalars(expression)]
        waiting += reversed(node.children)
    return list(found)


def plan_of(output: Output) -> Plan:
    return output.plan if isinstance(output, StoreStep) else output.relation.plan


def rounds(outputs: Sequence[Output]) -> list[list[Output]]:
    """Outputs in the order of what they need of each other."""
    done: list[list[Output]] = []
    left = list(outputs)
    while left:
        folders = [each.folder for each in left if isinstance(each, StoreStep)]
        ready = [each for each in left if not any(reads(each, folder) for folder in folders if _other(each, folder))]
        ready = ready or left[:1]  # two that load what the other stores: in their order
        done.append(ready)
        left = [each for each in left if not any(each is one for one in ready)]
    return done


def _other(output: Output, folder: Path) -> bool:
    return not (isinstance(output, StoreStep) and output.folder == folder)


def reads(output: Output | IllustrateStep, folder: Path) -> bool:
    """Whether an output loads something of a folder."""
    plans = [each.plan for each in output.relations] if isinstance(output, IllustrateStep) else [plan_of(output)]
    return any(under(output.loads, name, folder) for plan in plans for name in scans_of(plan))


def under(loads: Loads, name: str, folder: Path) -> bool:
    """Whether what a scan reads is in a folder, or may be."""
    loaded = loads[name]
    for part in parts_of(loaded.path):
        for choice in choices_of(part):
            path = (loaded.folder / choice).absolute()
            for each in (path, *path.parents):
                if each == folder or (any(sign in each.name for sign in "*?[") and folder.match(str(each))):
                    return True
    return False
