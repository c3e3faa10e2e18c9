"""Fields that nobody asks for are not read, and not carried along.

(1) From the outputs down, each node is asked for some of its fields. (2) It asks its inputs for what these need, and
says where they are now. A node with several users keeps all fields, since it is computed once: but not one that is
never computed by itself, as a scan is read by whoever needs it.
(3) A node whose result depends on whole rows (distinct, limits and sorts with their ties, bags) asks for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from incoop.query.expressions.nodes import Expression, Reference
from incoop.query.expressions.walk import moved, used_fields
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan, every_plan
from incoop.query.plan.several import Cross, Join, Union
from incoop.query.plan.single import AggregateBy, Filter, Generate, Project, Scan

#: A plan with fewer fields, and where those that were asked for are.
Pruned = tuple[Plan, dict[int, int]]


def prune_columns(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    pruning = _Pruning(plans)
    return tuple(pruning.whole(plan) for plan in plans)


class _Pruning:
    def __init__(self, plans: tuple[Plan, ...]) -> None:
        self._uses: dict[int, int] = {}
        seen: set[int] = set()
        for plan in plans:
            self._uses[id(plan)] = self._uses.get(id(plan), 0) + 1
            for node in every_plan(plan):
                if id(node) not in seen:
                    seen.add(id(node))
                    for child in node.children:
                        self._uses[id(child)] = self._uses.get(id(child), 0) + 1
        self._whole: dict[int, tuple[Plan, Plan]] = {}

    def whole(self, plan: Plan) -> Plan:
        """A plan of which all fields are asked for."""
        known = self._whole.get(id(plan))
        if known is None:
            width = plan.schema.width
            new = plan.rebuilt(self.whole) if width is None else self._pruned(plan, set(range(width)))[0]
            known = self._whole[id(plan)] = (plan, new)
        return known[1]

    def asked(self, plan: Plan, wanted: Iterable[int]) -> Pruned:
        """A plan of which some fields are asked for."""
        width = plan.schema.width
        if width is None or (self._uses.get(id(plan), 0) > 1 and not _is_read(plan)):
            return self.whole(plan), {at: at for at in wanted}
        return self._pruned(plan, set(wanted))

    def _pruned(self, plan: Plan, wanted: set[int]) -> Pruned:
        match plan:
            case Scan():
                return self._scan(plan, wanted)
            case Filter():
                lower, places = self.asked(plan.input, wanted | used_fields(plan.condition))
                return replace(plan, input=lower, condition=moved(plan.condition, places)), places
            case Project():
                kept = sorted(wanted)
                lower, places = self._below(plan.input, [plan.results[at] for at in kept])
                results = tuple(moved(plan.results[at], places) for at in kept)
                names = tuple(plan.names[at] for at in kept)
                return replace(plan, input=lower, results=results, names=names), _places(kept)
            case Generate():
                lower, places = self._below(plan.input, plan.results)
                return replace(plan, input=lower, results=tuple(moved(each, places) for each in plan.results)), _same(
                    plan
                )
            case AggregateBy():
                return self._aggregate(plan, wanted)
            case Join():
                return self._join(plan, wanted)
            case Cross():
                return self._sides(plan, wanted, wanted)
            case Union() if plan.schema.fields is not None:
                return self._union(plan, wanted)
        return plan.rebuilt(self.whole), _same(plan)  # step (3)

    def _below(self, plan: Plan, expressions: Iterable[Expression]) -> Pruned:
        return self.asked(plan, {at for each in expressions for at in used_fields(each)})

    def _scan(self, plan: Scan, wanted: set[int]) -> Pruned:
        kept = sorted(wanted)
        read = range(plan.schema.width or 0) if plan.wanted is None else plan.wanted
        if len(kept) == len(read):
            return plan, _same(plan)
        return replace(plan, wanted=tuple(read[at] for at in kept)), _places(kept)

    def _aggregate(self, plan: AggregateBy, wanted: set[int]) -> Pruned:
        """Keys are kept, aggregates that nobody asks for are not."""
        keys = len(plan.keys)
        kept = [*range(keys), *sorted(at for at in wanted if at >= keys)]
        chosen = [plan.aggregations[at - keys] for at in kept[keys:]]
        lower, places = self._below(plan.input, [*plan.keys, *(part for each in chosen for part in each.arguments)])
        new = replace(
            plan,
            input=lower,
            keys=tuple(moved(key, places) for key in plan.keys),
            aggregations=tuple(
                Aggregation(each.aggregate, tuple(moved(part, places) for part in each.arguments)) for each in chosen
            ),
            names=tuple(plan.names[at] for at in kept),
        )
        return new, _places(kept)

    def _join(self, plan: Join, wanted: set[int]) -> Pruned:
        if plan.left.schema.width is None or plan.right.schema.width is None:
            return plan.rebuilt(self.whole), _same(plan)
        left = {at for key in plan.left_keys for at in used_fields(key)}
        right = {at + plan.left.schema.width for key in plan.right_keys for at in used_fields(key)}
        return _picked(*self._sides(plan, wanted, wanted | left | right))

    def _sides(self, plan: Join | Cross, wanted: set[int], needed: set[int]) -> Pruned:
        width = plan.left.schema.width
        if width is None or plan.right.schema.width is None:
            return plan.rebuilt(self.whole), _same(plan)
        left, left_places = self.asked(plan.left, {at for at in needed if at < width})
        right, right_places = self.asked(plan.right, {at - width for at in needed if at >= width})
        new: Plan
        if isinstance(plan, Cross):
            new = replace(plan, left=left, right=right)
        else:
            new = replace(
                plan,
                left=left,
                right=right,
                left_keys=tuple(moved(key, left_places) for key in plan.left_keys),
                right_keys=tuple(moved(key, right_places) for key in plan.right_keys),
            )
        fresh = left.schema.width or 0
        places = {
            at: left_places[at] if at < width else right_places[at - width] + fresh for at in needed if at in wanted
        }
        return new, places

    def _union(self, plan: Union, wanted: set[int]) -> Pruned:
        """All inputs come to the same places; one that keeps more is cut."""
        kept = sorted(wanted)
        inputs = []
        for each in plan.inputs:
            lower, places = self.asked(each, wanted)
            if lower.schema.width != len(kept) or any(places[at] != place for place, at in enumerate(kept)):
                known = lower.schema.known("a union")
                results = tuple(Reference(places[at], known[places[at]].type) for at in kept)
                lower = Project(lower, results, tuple(known[places[at]].name for at in kept))
            inputs.append(lower)
        return replace(plan, inputs=tuple(inputs)), _places(kept)


def _is_read(plan: Plan) -> bool:
    """Whether rows come from a file, some of them left out, and nothing else is done with them."""
    return isinstance(plan, Scan) or (isinstance(plan, Filter) and _is_read(plan.input))


def _picked(plan: Plan, places: dict[int, int]) -> Pruned:
    """Without the fields that only the node itself reads: its rows are stored."""
    width = plan.schema.width
    if width is None or not places or len(places) == width:
        return plan, places
    known, kept = plan.schema.known("a join"), sorted(places)
    results = tuple(Reference(places[at], known[places[at]].type, known[places[at]].name) for at in kept)
    names = tuple(known[places[at]].name for at in kept)
    return Project(plan, results, names, position=plan.position), _places(kept)


def _same(plan: Plan) -> dict[int, int]:
    return {at: at for at in range(plan.schema.width or 0)}


def _places(kept: list[int]) -> dict[int, int]:
    return {at: place for place, at in enumerate(kept)}
