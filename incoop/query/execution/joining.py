"""Joins as stages, with the aggregation above one where it is asked for nothing else.

Contract: the fields that a side sends follow from what stands above, and are named by the stage's version.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from incoop.job import Reducer
from incoop.query.execution import reducers
from incoop.query.execution.broadcast import HINT, MOST_ROWS, JoinWith, asks_for_it, by_key
from incoop.query.execution.join_columns import FieldsByKey, JoinColumns
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.reading import PairShape, ReadPairs
from incoop.query.execution.relations import Branch, Relation
from incoop.query.execution.sinks import AggregateRows, RowsByKey
from incoop.query.execution.skew import CUT_KINDS, JoinParts, RowsByPart, keys_to_cut
from incoop.query.execution.stages import LEAF_OF_ROWS, Sending, Stages, digest_of, said_hash, tag_of
from incoop.query.execution.steps import FilterRows, ProjectRows, RowStep
from incoop.query.expressions.nodes import Expression, Reference
from incoop.query.expressions.walk import may_trouble, moved, used_fields
from incoop.query.functions.aggregates import Collect
from incoop.query.order import encoded
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Join
from incoop.query.plan.single import AggregateBy, Filter, Project
from incoop.query.types import Row, TupleType, Type


@dataclass(frozen=True, slots=True)
class StepsAbove:
    """What is done with the rows of a join in its own stage."""

    #: The plan node whose stage it is then.
    plan: Plan
    #: Fields of the join's rows that are looked at.
    kept: tuple[int, ...]
    steps: tuple[RowStep, ...] = ()
    groups: AggregateRows | None = None


class Joining(Stages):
    """Carries out joins."""

    #: How often each node is asked for, by its identity in memory.
    uses: dict[int, int]

    @abstractmethod
    def rows(self, plan: Plan) -> Iterator[Row]:
        """All rows of a plan, read here."""

    def join(self, plan: Join) -> Relation:
        if asks_for_it(plan) and (found := self._with_few(plan)) is not None:
            return found
        sides = [self.relation(plan.left), self.relation(plan.right)]
        return self._joined(plan, sides, None)

    def _with_few(self, plan: Join) -> Relation | None:
        """A join whose right rows travel to the mapper of the left ones; None where they are too many."""
        left_keys, right_keys = self.resolved(plan.left_keys), self.resolved(plan.right_keys)
        if any(map(may_trouble, (*left_keys, *right_keys))):
            return None
        rows = list(islice(self.rows(plan.right), MOST_ROWS + 1))
        if len(rows) > MOST_ROWS:
            return None
        left, tags = self.relation(plan.left), self.relation(plan.right).tags
        named = [list(map(digest_of, keys)) for keys in (left_keys, right_keys)]
        name = said_hash("join with few", plan.kind, plan.nulls_match, named, *map(encoded, rows), *map(repr, rows))
        others, width, types = (
            by_key(rows, right_keys, plan.nulls_match),
            plan.right.schema.width or 0,
            plan.schema.types,
        )
        step = JoinWith(tag_of(plan), name, plan.kind, left_keys, plan.nulls_match, others, width, types)
        return replace(left, tags=left.tags | tags).through(step, types)

    def projected_join(self, plan: Project) -> Relation | None:
        """Fields of a join that nobody else asks for: the others are not stored. None where it is something else."""
        join, fields = plan.input, [each.index for each in plan.results if isinstance(each, Reference)]
        if not isinstance(join, Join) or self.uses.get(id(join)) != 1 or not fields or len(fields) < len(plan.results):
            return None
        if asks_for_it(join):
            return None
        sides = [self.relation(join.left), self.relation(join.right)]
        return self._joined(join, sides, StepsAbove(plan, tuple(fields)))

    def states_of_join(self, plan: AggregateBy, groups: AggregateRows) -> Relation | None:
        """Keys of groups with their states, of the rows of a join that nobody else asks for; None where it cannot be.

        What stands between is evaluated with the join, unless it may count warnings: these are told apart by records,
        and a key may have many.
        """
        if any(isinstance(each.aggregate, Collect) for each in groups.aggregations):
            return None
        between: list[Filter | Project] = []
        node = plan.input
        while isinstance(node, Filter | Project) and self.uses.get(id(node)) == 1:
            between.insert(0, node)
            node = node.input
        if not isinstance(node, Join) or self.uses.get(id(node)) != 1 or node.hint in ("skewed", HINT):
            return None
        resolved = [self.resolved(each.expressions()) for each in between]
        asked = [*groups.keys, *(part for each in groups.aggregations for part in each.arguments)]
        if any(may_trouble(part) for each in [*resolved, asked] for part in each):
            return None
        sides = [self.relation(node.left), self.relation(node.right)]
        if not by_column(node, sides):
            return None
        of_rows = next((at for at, each in enumerate(between) if isinstance(each, Project)), len(between))
        looking = [*resolved, asked][: of_rows + 1]  # what looks at the fields of the join
        fields = sorted({at for each in looking for part in each for at in used_fields(part)})
        places = {at: place for place, at in enumerate(fields)}
        steps = []
        for at, (each, expressions) in enumerate(zip(between, resolved, strict=True)):
            if at <= of_rows:
                expressions = tuple(moved(part, places) for part in expressions)
            steps.append(_step(each, expressions))
        if of_rows == len(between):
            groups = _moved(groups, places)
        return self._joined(node, sides, StepsAbove(plan, tuple(fields), tuple(steps), groups))

    def _joined(self, plan: Join, sides: Sequence[Relation], above: StepsAbove | None) -> Relation:
        keys = [self.resolved(plan.left_keys), self.resolved(plan.right_keys)]
        apart = not plan.nulls_match
        form = key_form(keys, apart and plan.kind in ("left", "right", "full", "anti"))
        stays = {"left": (0,), "anti": (0,), "right": (1,), "full": (0, 1)}.get(plan.kind, ())
        drops = [apart and at not in stays for at in (0, 1)]
        widths = (plan.left.schema.width or 0, plan.right.schema.width or 0)
        kept = above.kept if above is not None else None
        said: tuple[Any, ...] = ("join", plan.kind, plan.nulls_match, widths, kept, list(map(_said_keys, keys)))
        sinks = [RowsByKey(each, form, at, drops[at]) for at, each in enumerate(keys)]
        rows = reducers.JoinRows(plan.kind, *widths, form, kept)
        if plan.hint == "skewed" and plan.kind in CUT_KINDS and (cut := keys_to_cut(self, plan, sides, sinks)):
            said = (*said, "cut", sorted((repr(key), hands) for key, hands in cut.items()))
            sendings = [Sending(side, RowsByPart(each, cut)) for side, each in zip(sides, sinks, strict=True)]
            reducer: Reducer = JoinParts(rows)
        elif by_column(plan, sides):
            sendings, reducer = _columns(plan, sides, keys, form, drops, above)
            said = (*said, "by column", _said_above(above))
        else:
            sendings, reducer = [Sending(*each) for each in zip(sides, sinks, strict=True)], rows
        owner: Plan = plan if above is None else above.plan
        role = "" if above is None else "of a join"
        result = self.stage(owner, role, sendings, None, reducer, said, LEAF_OF_ROWS)
        tags = sides[0].tags | sides[1].tags
        if above is not None and above.groups is not None:
            tag = tag_of(owner)
            states = Branch(result, ReadPairs(PairShape.PAIRS, None), b"states of groups", tag)
            return Relation((states,), None, tags | {tag, *(each.tag for each in above.steps)})
        return self.reduced(owner, result, tags)


def _step(plan: Filter | Project, expressions: tuple[Expression, ...]) -> RowStep:
    named = list(map(digest_of, expressions))
    if isinstance(plan, Filter):
        return FilterRows(tag_of(plan), said_hash("filter", *named), expressions[0])
    return ProjectRows(tag_of(plan), said_hash("project", *named), expressions)


def _moved(groups: AggregateRows, places: Mapping[int, int]) -> AggregateRows:
    """The same of rows whose fields are at other places."""
    found = tuple(
        Aggregation(each.aggregate, tuple(moved(part, places) for part in each.arguments))
        for each in groups.aggregations
    )
    return replace(groups, keys=tuple(moved(key, places) for key in groups.keys), aggregations=found)


def by_column(plan: Join, sides: Sequence[Relation]) -> bool:
    """Whether a join's fields are known."""
    return plan.schema.width is not None and all(each.types is not None for each in sides)


def _columns(
    plan: Join,
    sides: Sequence[Relation],
    keys: Sequence[tuple[Expression, ...]],
    form: KeyForm,
    drops: Sequence[bool],
    above: StepsAbove | None,
) -> tuple[list[Sending], Reducer]:
    types = [each.types or () for each in sides]
    kept = above.kept if above is not None else tuple(range(plan.schema.width or 0))
    width = len(types[0])
    used = [sorted({at for at in kept if at < width}), sorted({at - width for at in kept if at >= width})]
    references = [tuple(Reference(at, types[side][at]) for at in used[side]) for side in (0, 1)]
    sendings = [
        Sending(sides[side], FieldsByKey(keys[side], form, side, references[side], drops[side])) for side in (0, 1)
    ]
    sent = (tuple(each.type for each in references[0]), tuple(each.type for each in references[1]))
    places = tuple(used[0].index(at) if at < width else len(used[0]) + used[1].index(at - width) for at in kept)
    if above is None:
        return sendings, JoinColumns(plan.kind, form, sent, places)
    return sendings, JoinColumns(plan.kind, form, sent, places, above.steps, above.groups, tag_of(above.plan))


def _said_above(above: StepsAbove | None) -> Any:
    if above is None or above.groups is None:
        return None
    groups = above.groups
    return [each.digest for each in above.steps], _said_keys(groups.keys), list(map(said_of, groups.aggregations))


def said_of(aggregation: Aggregation) -> tuple[Any, ...]:
    return repr(aggregation.aggregate), [digest_of(each) for each in aggregation.arguments]


def _said_keys(keys: Iterable[Expression]) -> list[str]:
    return list(map(digest_of, keys))


def key_form(keys: Sequence[tuple[Expression, ...]], marked: bool) -> KeyForm:
    """One form for the keys of all inputs."""
    kinds: list[Type] = []
    for several in zip(*keys, strict=True):
        types = {each.type for each in several}
        # Types differ where nothing is known of one of them: keys are encoded.
        kinds.append(types.pop() if len(types) == 1 else TupleType(None))
    return KeyForm(tuple(kinds), marked)
