"""The steps of a job, in the order in which they run. Loads all that tasks need: who reuses all does without it."""

from __future__ import annotations

from incoop.engine.stages.map_contract.contract_step import ContractStep
from incoop.engine.stages.map_contract.map_step import MapStep

STEPS = (MapStep, ContractStep)
