"""From lark's parse tree to nodes: statements, and what makes relations. A method a rule, `on_` and its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import statements as s
from incoop.fronts.pig.syntax.build_terms import MAX_DEPTH, Children, TermBuilder
from incoop.fronts.pig.syntax.commands import command_statement
from incoop.fronts.pig.syntax.literals import text_value, whole_value
from incoop.fronts.pig.syntax.places import PlacedText
from incoop.fronts.pig.syntax.terms import Argument, CallTerm, StarTerm, TupleTerm


def build(tree: Any, text: PlacedText) -> tuple[s.Statement, ...]:
    """The statements of a text, from its parse tree; leaves first, so that nothing is recursive."""
    builder = _StatementBuilder(text)
    built: dict[int, tuple[Any, int]] = {}
    for sub in tree.iter_subtrees():
        children, depth = [], 0
        for child in sub.children:
            node, below = built[id(child)] if hasattr(child, "data") else (child, 0)
            children.append(node)
            depth = max(depth, below)
        if not sub.meta.empty:
            builder.here = text.place(sub.meta.start_pos)
        if sub.data not in ("and_", "or_"):
            depth += 1
        if depth > MAX_DEPTH:
            builder.complain(
                f"this is nested more than {MAX_DEPTH} levels deep", remedy="Write it in several statements."
            )
        built[id(sub)] = getattr(builder, f"on_{sub.data}")(children), depth
    return cast("tuple[s.Statement, ...]", built[id(tree)][0])


class _StatementBuilder(TermBuilder):
    def on_start(self, children: Children) -> tuple[s.Statement, ...]:
        return tuple(self._command(each) if isinstance(each, str) else each for each in children if each is not None)

    def _command(self, token: Any) -> s.Statement:
        offset = token.start_pos
        return command_statement(
            str(token),
            lambda within: self.text.place(offset + within),
            lambda problem, within, remedy: self.complain(problem, offset + within, remedy),
        )

    # ---- statements

    def on_alias(self, children: Children) -> o.RelationName:
        return o.RelationName(str(children[0]), place=self.here)

    def on_assign(self, children: Children) -> s.AssignStatement:
        alias, operator, *parallel = children
        if parallel and parallel[0] is not None:
            operator = replace(operator, parallel=parallel[0])
        return s.AssignStatement(alias, operator, place=self.here)

    def on_assign_unnamed(self, children: Children) -> s.AssignStatement:
        return self.on_assign([None, *children])

    def on_realias(self, children: Children) -> s.RealiasStatement:
        alias, *other = children
        named = (
            o.RelationName(str(other[0]), place=self.place(other[0])) if other else o.PreviousRelation(place=self.here)
        )
        return s.RealiasStatement(alias, named, place=self.here)

    def on_macro_call(self, children: Children) -> s.MacroCall:
        *outputs, name, arguments = children
        return s.MacroCall(tuple(outputs), str(name), arguments or (), place=self.here)

    on_macro_call_void = on_macro_call

    def on_macro_arguments(self, children: Children) -> tuple[str, ...]:
        return tuple(text_value(each) if each.type == "STRING" else str(each) for each in children)

    def on_names(self, children: Children) -> tuple[str, ...]:
        return tuple(map(str, children))

    def on_define_macro(self, children: Children) -> s.DefineMacro:
        name, parameters, returns, body = children
        number = int(body.strip("{}\0"))
        outputs = returns if isinstance(returns, tuple) else ()
        return s.DefineMacro(str(name), parameters or (), outputs, self.text.bodies[number], place=self.here)

    def on_store(self, children: Children) -> s.StoreStatement:
        source, path, function, parallel = children
        return s.StoreStatement(source, text_value(path), function, parallel, place=self.here)

    def on_store_named(self, children: Children) -> s.StoreStatement:
        """`x = STORE …`: Pig takes it, and there is nothing that x could be used for."""
        return self.on_store(children[1:])

    def on_split(self, children: Children) -> s.SplitStatement:
        return s.SplitStatement(children[0], tuple(children[1:]), place=self.here)

    def on_split_if(self, children: Children) -> s.SplitBranch:
        return s.SplitBranch(*children, place=self.here)

    def on_split_otherwise(self, children: Children) -> s.SplitBranch:
        return s.SplitBranch(children[0], None, children[1] is not None, place=self.here)

    def on_assert_(self, children: Children) -> s.AssertStatement:
        source, condition, message = children
        return s.AssertStatement(source, condition, message and text_value(message), place=self.here)

    def on_import_(self, children: Children) -> s.ImportStatement:
        return s.ImportStatement(text_value(children[0]), place=self.here)

    def on_define_function(self, children: Children) -> s.DefineFunction:
        return s.DefineFunction(str(children[0]), children[1], place=self.here)

    def on_define_command(self, children: Children) -> s.DefineCommand:
        name, command, *options = children
        said: dict[str, Any] = {}
        for each in options:
            said |= each
        return s.DefineCommand(str(name), str(command)[1:-1], **said, place=self.here)

    def on_ship(self, children: Children) -> dict[str, Any]:
        return {"ship": children[0] or ()}

    def on_cache(self, children: Children) -> dict[str, Any]:
        return {"cache": children[0]}

    def on_input(self, children: Children) -> dict[str, Any]:
        return {"input": tuple(children)}

    def on_output(self, children: Children) -> dict[str, Any]:
        return {"output": tuple(children)}

    def on_stderr(self, children: Children) -> dict[str, Any]:
        path, limit = children
        return {"stderr": text_value(path) if path else "", "stderr_limit": self._whole(limit) if limit else None}

    def on_handle(self, children: Children) -> s.StreamHandle:
        token, function = children
        standard = token.type != "STRING"
        return s.StreamHandle(token.lower() if standard else text_value(token), standard, function, place=self.here)

    # ---- relations

    def on_relation_name(self, children: Children) -> o.RelationName:
        return o.RelationName(str(children[0]), place=self.here)

    def on_previous_relation(self, children: Children) -> o.PreviousRelation:
        return o.PreviousRelation(place=self.here)

    def on_inner(self, children: Children) -> Any:
        operator, parallel = children
        return operator if parallel is None else replace(operator, parallel=parallel)

    def on_relations(self, children: Children) -> tuple[o.Relation, ...]:
        return tuple(children)

    def on_parallel(self, children: Children) -> int:
        return self._whole(children[0])

    def _whole(self, token: Any) -> int:
        number = whole_value(token)
        if number is None:
            self.complain(f"{token[:40]} is no whole number", token.start_pos)
        return number

    def on_partition(self, children: Children) -> str:
        return cast("str", children[0])

    def on_using(self, children: Children) -> o.FunctionReference:
        return cast("o.FunctionReference", children[0])

    def on_function_name(self, children: Children) -> str:
        return ".".join(map(str, children))

    def on_function_by_name(self, children: Children) -> o.FunctionReference:
        return o.FunctionReference(children[0], place=self.here)

    def on_function_with_arguments(self, children: Children) -> o.FunctionReference:
        return o.FunctionReference(children[0], children[1] or (), place=self.here)

    def on_texts(self, children: Children) -> tuple[str, ...]:
        return tuple(map(text_value, children))

    def on_load(self, children: Children) -> o.LoadOperator:
        path, function, schema = children
        return o.LoadOperator(text_value(path), function, schema, place=self.here)

    def on_filter(self, children: Children) -> o.FilterOperator:
        return o.FilterOperator(*children, place=self.here)

    def on_foreach(self, children: Children) -> o.ForeachOperator:
        return o.ForeachOperator(*children, place=self.here)

    def on_foreach_block(self, children: Children) -> o.ForeachOperator:
        source, *nested, items = children
        return o.ForeachOperator(source, items, tuple(nested), True, place=self.here)

    def on_items(self, children: Children) -> tuple[o.GenerateItem, ...]:
        return tuple(children)

    def on_plain_item(self, children: Children) -> o.GenerateItem:
        return o.GenerateItem(children[0], False, children[1], place=self.here)

    def on_flatten_item(self, children: Children) -> o.GenerateItem:
        return o.GenerateItem(children[0], True, children[1], place=self.here)

    def on_nested(self, children: Children) -> o.NestedStatement:
        return o.NestedStatement(str(children[0]), children[1], place=self.here)

    def on_nested_filter(self, children: Children) -> o.NestedFilter:
        return o.NestedFilter(*children, place=self.here)

    def on_nested_order(self, children: Children) -> o.NestedOrder:
        return o.NestedOrder(*children, place=self.here)

    def on_nested_distinct(self, children: Children) -> o.NestedDistinct:
        return o.NestedDistinct(*children, place=self.here)

    def on_nested_limit(self, children: Children) -> o.NestedLimit:
        return o.NestedLimit(*children, place=self.here)

    def on_nested_cross(self, children: Children) -> o.NestedCross:
        return o.NestedCross(tuple(children), place=self.here)

    def on_nested_foreach(self, children: Children) -> o.NestedForeach:
        return o.NestedForeach(*children, place=self.here)

    def on_group(self, children: Children) -> o.GroupOperator:
        _, *inputs, hint, partitioner = children
        return o.GroupOperator(tuple(inputs), hint and text_value(hint), partitioner, place=self.here)

    def on_group_by(self, children: Children) -> o.GroupedInput:
        source, keys, side = children
        return o.GroupedInput(source, self._keys(keys), side and o.GroupSide(side.lower()), place=self.here)

    def on_group_all(self, children: Children) -> o.GroupedInput:
        source, _, side = children
        return o.GroupedInput(source, (), side and o.GroupSide(side.lower()), place=self.here)

    def _keys(self, argument: Argument) -> tuple[Argument, ...]:
        """`BY (a, b)` has two keys, as has `BY TOTUPLE(a, b)`."""
        keys: tuple[Argument, ...] = (argument,)
        if isinstance(argument, TupleTerm):
            keys = argument.items
        elif isinstance(argument, CallTerm) and argument.function == "TOTUPLE":
            keys = argument.arguments
        if not keys:
            self.complain("there is no key here", remedy="Write ALL instead of BY for one group of all rows.")
        return keys

    def on_join(self, children: Children) -> o.JoinOperator:
        (inputs, kind), hint, partitioner = children
        return o.JoinOperator(inputs, kind, hint and text_value(hint), partitioner, place=self.here)

    def on_inner_join(self, children: Children) -> tuple[tuple[o.JoinedInput, ...], o.JoinWord]:
        return tuple(children), o.JoinWord.INNER

    def on_outer_join(self, children: Children) -> tuple[tuple[o.JoinedInput, ...], o.JoinWord]:
        left, kind, _, right = children
        return (left, right), o.JoinWord(kind.lower())

    def on_join_input(self, children: Children) -> o.JoinedInput:
        return o.JoinedInput(children[0], self._keys(children[1]), place=self.here)

    def on_sort_keys(self, children: Children) -> tuple[o.SortColumn, ...]:
        return tuple(children)

    def on_sort_key(self, children: Children) -> o.SortColumn:
        column, direction = children
        return o.SortColumn(column, direction is not None and direction.type == "DESC", place=self.here)

    def on_sort_by_all(self, children: Children) -> tuple[o.SortColumn, ...]:
        return (self.on_sort_key([StarTerm(place=self.here), children[1]]),)

    def on_order(self, children: Children) -> o.OrderOperator:
        return o.OrderOperator(*children, place=self.here)

    def on_rank(self, children: Children) -> o.RankOperator:
        _, source, keys, dense = children
        return o.RankOperator(source, keys or (), dense is not None, place=self.here)

    def on_distinct(self, children: Children) -> o.DistinctOperator:
        return o.DistinctOperator(*children, place=self.here)

    def on_limit(self, children: Children) -> o.LimitOperator:
        return o.LimitOperator(*children, place=self.here)

    def on_sample(self, children: Children) -> o.SampleOperator:
        return o.SampleOperator(*children, place=self.here)

    def on_cross(self, children: Children) -> o.CrossOperator:
        return o.CrossOperator(*children, place=self.here)

    def on_union(self, children: Children) -> o.UnionOperator:
        onschema, sources = children
        return o.UnionOperator(sources, onschema is not None, place=self.here)

    def on_cube(self, children: Children) -> o.CubeOperator:
        _, source, *dimensions = children
        return o.CubeOperator(source, tuple(dimensions), place=self.here)

    def on_cube_dimension(self, children: Children) -> o.CubeDimension:
        return o.CubeDimension(children[0].type == "ROLLUP", children[1], place=self.here)

    def on_stream(self, children: Children) -> o.StreamOperator:
        source, through, schema = children
        if through.type == "SHELL":
            return o.StreamOperator(source, command=str(through)[1:-1], schema=schema, place=self.here)
        return o.StreamOperator(source, name=str(through), schema=schema, place=self.here)

    def on_native(self, children: Children) -> o.NativeOperator:
        jar, jars, source, into, storer, path, loader, schema, arguments = children
        load = o.LoadOperator(text_value(path), loader, schema, place=self.place(path))
        return o.NativeOperator(
            *(text_value(jar), source, text_value(into), storer, load, arguments and str(arguments)[1:-1], jars or ()),
            place=self.here,
        )
