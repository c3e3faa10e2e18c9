"""An operator of a script to the relation that it makes."""

from __future__ import annotations

from incoop.fronts.pig.errors import refuse
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.translation.groups import cubed, grouped
from incoop.fronts.pig.translation.loads import loaded, streamed
from incoop.fronts.pig.translation.row_operators import distinct, filtered, foreach, limited, ordered, ranked, sampled
from incoop.fronts.pig.translation.scope import ScriptRelation, ScriptScope
from incoop.fronts.pig.translation.several_inputs import crossed, joined, united


def relation_of(written: o.Relation, script: ScriptScope, alias: str | None = None) -> ScriptRelation:
    """The relation that a name, `@` or an operator stands for; `alias` is what an operator's result will be called."""
    match written:
        case o.RelationName() | o.PreviousRelation():
            return script.relation(written)
        case o.LoadOperator():
            return loaded(alias, written, script)
        case o.FilterOperator(source):
            return filtered(relation_of(source, script), written, script)
        case o.ForeachOperator(source):
            return foreach(relation_of(source, script), written, script)
        case o.GroupOperator(inputs):
            return grouped([_whole(each.source, script) for each in inputs], written, script)
        case o.JoinOperator(inputs):
            return joined([_whole(each.source, script) for each in inputs], written, script)
        case o.OrderOperator(source):
            return ordered(_whole(source, script), written, script)
        case o.RankOperator(source):
            return ranked(_whole(source, script), written, script)
        case o.DistinctOperator(source):
            return distinct(_whole(source, script), written)
        case o.LimitOperator(source):
            return limited(_whole(source, script), written, script)
        case o.SampleOperator(source):
            return sampled(_whole(source, script), written, script)
        case o.CrossOperator(sources):
            return crossed([_whole(each, script) for each in sources], written)
        case o.UnionOperator(sources):
            return united([_whole(each, script) for each in sources], written, script)
        case o.CubeOperator(source):
            return cubed(_whole(source, script), written, script)
        case o.StreamOperator(source):
            return streamed(_whole(source, script), written, script)
        case o.NativeOperator():
            refuse(
                f"MAPREDUCE runs {written.jar}, and no Java is run here. STORE what it reads, run it by `sh`, and LOAD "
                "what it wrote.",
                written,
            )


def _whole(source: o.Relation, script: ScriptScope) -> ScriptRelation:
    """An input whose rows are its fields."""
    return relation_of(source, script).whole()
