"""Job properties: today's name for each deprecated one, and which of them can change what a task computes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from incoop.base.errors import BadCall

#: Deprecated name -> today's.
_TODAY = {
    "mapred.reduce.tasks": "mapreduce.job.reduces",
    "mapred.map.tasks": "mapreduce.job.maps",
    "mapred.job.name": "mapreduce.job.name",
    "mapred.task.timeout": "mapreduce.task.timeout",
    "mapred.partitioner.class": "mapreduce.job.partitioner.class",
    "mapreduce.partitioner.class": "mapreduce.job.partitioner.class",
    "mapred.text.key.partitioner.options": "mapreduce.partition.keypartitioner.options",
    "mapred.text.key.comparator.options": "mapreduce.partition.keycomparator.options",
    "mapred.output.key.comparator.class": "mapreduce.job.output.key.comparator.class",
    "map.output.key.field.separator": "mapreduce.map.output.key.field.separator",
    "mapred.textoutputformat.separator": "mapreduce.output.textoutputformat.separator",
    "key.value.separator.in.input.line": "mapreduce.input.keyvaluelinerecordreader.key.value.separator",
}

#: Properties that say where, when and under which name a job runs, not what it computes.
_PLACEMENT = re.compile(
    r"incoop\..*|mapreduce\.job\.(name|queuename|priority|tags|maps|user\.name|acl-.*|end-notification.*|ubertask.*)"
    r"|mapred\.(job\.(name|priority|queue\.name)|map\.tasks|child\..*|task\.timeout)"
    r"|mapreduce\.(map|reduce)\.(memory|java|cpu|speculative|maxattempts|failures|log|env).*|mapreduce\.task\.timeout"
    r"|mapreduce\.task\.(io|timeout).*|yarn\..*|dfs\..*|fs\..*|io\..*|ipc\..*|hadoop\..*"
)


def canonical(name: str) -> str:
    """The name that a property has today.

    Example:
        >>> canonical("mapred.reduce.tasks")
        'mapreduce.job.reduces'
    """
    return _TODAY.get(name, name)


def variable_of(name: str) -> str:
    """The environment variable of a property.

    Example:
        >>> variable_of("mapreduce.job.reduces")
        'mapreduce_job_reduces'
    """
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def is_placement(name: str) -> bool:
    """Whether a property is left out of a task's identity.

    Example:
        >>> is_placement("mapreduce.job.name"), is_placement("my.threshold")
        (True, False)
    """
    return _PLACEMENT.fullmatch(name) is not None


def whole_number(properties: Mapping[str, str], name: str, default: int) -> int:
    """A property that is a number of zero or more."""
    text = properties.get(name, str(default)).strip()
    if not text.isdigit():
        raise BadCall(f"{name} is a number, not {text!r}.")
    return int(text)


def truth(properties: Mapping[str, str], name: str, default: bool) -> bool:
    """A property that is true or false."""
    text = properties.get(name, str(default)).strip().lower()
    if text not in ("true", "false"):
        raise BadCall(f"{name} is true or false, not {text!r}.")
    return text == "true"


def separator(properties: Mapping[str, str], name: str) -> bytes:
    """A property that is a separator; a tab unless given."""
    return properties.get(name, "\t").encode("utf-8", "surrogateescape")


def task_variables(kind: str, number: int) -> dict[str, str]:
    """What Hadoop tells a task of itself, by today's names and the old ones."""
    task = f"task_local_0001_{kind}_{number:06d}"
    is_map = "true" if kind == "m" else "false"
    today = {"id": task, "attempt_id": f"attempt{task[4:]}_0", "partition": str(number), "ismap": is_map}
    return {
        **{f"mapreduce_task_{name}": value for name, value in today.items()},
        "mapred_tip_id": task,
        "mapred_task_id": f"attempt{task[4:]}_0",
        "mapred_task_partition": str(number),
        "mapred_task_is_map": is_map,
    }
