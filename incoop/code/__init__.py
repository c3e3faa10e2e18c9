"""The user's code on its way to a worker, and the proof that what runs there is what was hashed here.

Contract: a worker runs functions only from a `Shipment`: the modules they were loaded from travel by content and are
imported under their own names; what the functions captured travels with them. Before a result may be stored, the worker
has computed the fingerprint of the functions that it really has, and found it to be the one in the result's id.

On the driver: `modules` (what travels), `pickler` (how), `workplaces` (to which workers), `shipment` (all, packed).
In a worker: `importer` (modules that came), `shipment` (functions, proved before and after a task), `watch` (what they
read besides their input) and `whose` (which code it was that read); `known_reads` says on the driver whether that is in
the id.

Imports fingerprint and base; knows nothing of stages, memo or Spark jobs.
"""

from __future__ import annotations

from incoop.code.errors import CannotTravel, CodeDiffers, KeepsState, ModuleNotLoaded, OtherWorkerNeeded
from incoop.code.functions import Functions, Opened
from incoop.code.importer import importing
from incoop.code.known_reads import KnownReads, ReadDiffers
from incoop.code.reads import Observed
from incoop.code.shipment import Shipment, pack
from incoop.code.watch import known_by_content, unwatched
from incoop.code.workplaces import Workplaces, workplaces_of

__all__ = [
    "CannotTravel",
    "CodeDiffers",
    "Functions",
    "KeepsState",
    "KnownReads",
    "ModuleNotLoaded",
    "Observed",
    "Opened",
    "OtherWorkerNeeded",
    "ReadDiffers",
    "Shipment",
    "Workplaces",
    "importing",
    "known_by_content",
    "pack",
    "unwatched",
    "workplaces_of",
]
