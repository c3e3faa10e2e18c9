"""Which doors a Spark of ours opens: none to other machines, none without a key.

Contract: a session that we start with a local master listens on this machine alone, takes calls only from who knows
its secret (which Spark makes for itself), and has no web page; unless the user asked for something else. Of one on a
cluster that has no authentication the user is warned: whoever reaches it can run code there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

#: Spark listens on every address otherwise, and answers whoever asks.
CLOSED = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.authenticate": "true",
    "spark.ui.enabled": "false",
}

_LOCAL = re.compile(r"local(\[.*\])?")

#: Where PySpark finds the options of spark-submit.
_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"


def is_local(master: str) -> bool:
    """Whether everything runs on this machine.

    Example:
        >>> is_local("local[*]"), is_local("local-cluster[2,1,512]"), is_local("spark://host:7077")
        (True, False, False)
    """
    return _LOCAL.fullmatch(master) is not None


def closed_doors(master: str, asked: Mapping[str, str] | None = None) -> dict[str, str]:
    """Settings for a session with this master; what the user asked for, here or for all of PySpark, is left out."""
    if not is_local(master):
        return {}
    arguments = os.environ.get(_ARGUMENTS, "")
    chosen = {key for key in CLOSED if key in (asked or {}) or re.search(rf"\b{re.escape(key)}=", arguments)}
    if "SPARK_LOCAL_IP" in os.environ:  # an address that the user chose
        chosen |= {"spark.driver.bindAddress", "spark.driver.host"}
    return {key: value for key, value in CLOSED.items() if key not in chosen}


def warning_of(master: str, settings: Mapping[str, str]) -> str:
    """What to tell of the doors of a session that runs; nothing of one that is closed, or the user's own here."""
    if is_local(master) or settings.get("spark.authenticate", "false").lower() == "true":
        return ""
    return (
        f"Spark at {master} runs without authentication: whoever reaches its ports can run code as you, and read what "
        "tasks hold. Set spark.authenticate and spark.authenticate.secret (and spark.network.crypto.enabled) there."
    )
