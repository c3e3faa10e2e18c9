"""Who can carry work out in a session: Spark, and processes of our own; each started when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass, field

from incoop.engine.running.helpers import Helpers
from incoop.engine.running.processes import Processes
from incoop.engine.running.spark import Spark


@dataclass(slots=True)
class Workforce:
    """The two, which know nothing of each other."""

    spark: Spark
    processes: Processes
    #: For what is done beside the driver.
    helpers: Helpers = field(init=False)

    def __post_init__(self) -> None:
        self.helpers = Helpers(self.processes)

    def renew(self) -> None:
        """From now on, other workers: what is loaded in those that are there is not as it should be."""
        self.processes.workplaces.renew()
        if self.spark.running:
            self.spark.workplaces.renew()

    def stop(self) -> None:
        """Stop what was started; a Spark session that was there before stays."""
        self.helpers.stop()
        self.processes.stop()
        self.spark.stop()
