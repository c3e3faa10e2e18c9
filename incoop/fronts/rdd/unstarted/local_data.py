"""`sc.parallelize(…)` of a program, until Spark is needed for it: data of its own, and narrow steps on it.

Contract: it is an RDD; its elements are what they were when the program gave them. Joined with a memoized RDD it is
input of a stage. Anything else makes it, and the RDDs that it was made of, PySpark's own, which starts Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark import RDD, SparkContext
from pyspark.serializers import CPickleSerializer

#: PySpark's own, before anything replaces it.
_PARALLELIZE = SparkContext.parallelize

#: More is Spark's: elements are held here twice, and travel with the tasks that read them.
_MOST_BYTES = 16 << 20
_MOST_NUMBERS = 1 << 20

#: The name under which an RDD keeps what it is made of.
_MADE = "_incoop_made_of"

#: The same for its steps as they were when it was used as a whole: PySpark pickles them then, and keeps that.
_BOUND = "_incoop_bound"

#: Steps that an RDD of this kind remembers, and a memoized one has, too.
_STEPS = ("map", "flatMap", "filter", "mapValues", "flatMapValues", "keyBy", "keys", "values")

#: What is answered without Spark: PySpark makes these of the steps above and of unions.
_KNOWN = frozenset(
    {
        *(
            *_STEPS,
            "getNumPartitions",
            "ctx",
            "context",
            "partitioner",
            "union",
            "join",
            "cogroup",
            "groupWith",
            "subtract",
        ),
        *("leftOuterJoin", "rightOuterJoin", "fullOuterJoin", "subtractByKey", "intersection"),
    }
)


@dataclass(frozen=True, slots=True)
class MadeOf:
    """Data, or a step on another RDD."""

    partitions: int
    #: Pickled when the program gave it.
    data: bytes = b""
    is_range: bool = False
    parent: UnstartedData | None = None
    step: str = ""
    arguments: tuple[Any, ...] = ()

    def elements(self) -> Any:
        """A list, or a range."""
        return CPickleSerializer().loads(self.data)  # type: ignore[no-untyped-call]


class UnstartedData(RDD[Any]):
    """What `parallelize` gives, as long as nobody needs Spark."""

    def __init__(self, context: SparkContext, made: MadeOf) -> None:
        self.__dict__.update({"ctx": context, "partitioner": None, _MADE: made})

    def __getattribute__(self, name: str) -> Any:
        if name in _KNOWN or (name.startswith("__") and name.endswith("__")):
            return object.__getattribute__(self, name)
        start_data(self)
        return getattr(self, name)

    def getNumPartitions(self) -> int:
        return made_of(self).partitions


def _step(name: str) -> Callable[..., Any]:
    method = getattr(RDD, name)

    def step(self: UnstartedData, *arguments: Any, **named: Any) -> Any:
        if named or len(arguments) > 1:
            start_data(self)
            return method(self, *arguments, **named)
        made = MadeOf(made_of(self).partitions, parent=self, step=name, arguments=arguments)
        return UnstartedData(self.ctx, made)

    step.__name__ = step.__qualname__ = name
    return step


for _name in _STEPS:
    setattr(UnstartedData, _name, _step(_name))

UnstartedData.__name__ = UnstartedData.__qualname__ = RDD.__name__
UnstartedData.__module__ = RDD.__module__


def made_of(rdd: RDD[Any]) -> MadeOf:
    """What an RDD that is not PySpark's own yet is made of."""
    made: MadeOf = rdd.__dict__[_MADE]
    return made


class Bound(Protocol):
    """Functions that what the program does later cannot change."""

    @property
    def functions(self) -> tuple[Any, ...]: ...


def steps_of(rdd: RDD[Any]) -> list[tuple[str, Any]]:
    """The steps since the data, each with its function, if it has one; nothing on the way may be PySpark's own."""
    made = made_of(rdd)
    if made.parent is None:
        return []
    return [*steps_of(made.parent), (made.step, made.arguments[0] if made.arguments else None)]


def bound(rdd: RDD[Any], bind: Callable[[list[Any]], Bound]) -> Bound:
    """The functions of an RDD's steps as they were when it was first used as a whole: now, unless it already was."""
    if _BOUND not in rdd.__dict__:
        steps = steps_of(rdd)
        rdd.__dict__[_BOUND] = source_of(rdd), steps, bind([function for _, function in steps])
    found: Bound = rdd.__dict__[_BOUND][-1]
    return found


def stepped(rdd: Any, steps: Iterable[tuple[str, Any]], functions: Iterable[Any]) -> Any:
    """What steps with these functions make of an RDD."""
    for (step, _), function in zip(steps, functions, strict=True):
        rdd = getattr(rdd, step)(*(() if function is None else (function,)))
    return rdd


def parallelized(context: SparkContext, elements: Iterable[Any], slices: Any) -> RDD[Any]:
    """`sc.parallelize`; by PySpark where the data is large, or where something is wrong with it."""
    number = slices if slices is not None else context.defaultParallelism
    is_range = isinstance(elements, range)
    held: Any = elements if is_range or "__len__" in dir(elements) else list(elements)
    few = not is_range or 0 < len(held) <= _MOST_NUMBERS
    if type(number) is int and number > 0 and few:
        try:
            data = CPickleSerializer().dumps(held if is_range else list(held))  # type: ignore[no-untyped-call]
        except Exception:
            data = None  # PySpark says what is wrong
        if data is not None and len(data) <= _MOST_BYTES:
            return UnstartedData(context, MadeOf(number, data, is_range))
    return _PARALLELIZE(context, held, slices)


def source_of(rdd: RDD[Any]) -> RDD[Any] | None:
    """The data that an RDD is made of, if it is not PySpark's own."""
    while type(rdd) is UnstartedData:
        parent = made_of(rdd).parent
        if parent is None:
            return rdd
        rdd = parent
    return None


def start_data(rdd: RDD[Any]) -> None:
    """Make an RDD PySpark's own; no other is touched."""
    if type(rdd) is not UnstartedData:
        return
    made, context = made_of(rdd), rdd.__dict__["ctx"]
    if made.parent is None:
        real = _PARALLELIZE(context, made.elements(), made.partitions)
    else:
        start_data(made.parent)
        real = getattr(made.parent, made.step)(*made.arguments)
        if _BOUND in rdd.__dict__:
            source, steps, functions = rdd.__dict__[_BOUND]
            fixed = stepped(source, steps, functions.functions)
            real._jrdd_val, real._id = fixed._jrdd, fixed.id()
    rdd.__dict__.clear()
    rdd.__class__ = type(real)  # type: ignore[assignment]
    rdd.__dict__.update(real.__dict__)
