"""Kinds of stages, one folder each: what identifies it, decides, runs, is kept. None knows another, or the driver."""

#: What runs in workers and helpers, for processes that have it from the start.
TASKS = (
    "incoop.engine.stages.map_contract.map_task",
    "incoop.engine.stages.map_contract.contract_task",
    "incoop.engine.save",
    "incoop.inchdfs.cutting.side_by_side",
)
