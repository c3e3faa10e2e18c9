"""Names of Java classes: which of our functions they are, and what is said of those that are none.

Contract: a builtin is found by its own name and with its packages before it, as Pig looks it up; a function of the
piggybank or the tutorial by its full name only. Every other class is a `JavaFunction` error, which says what to
write.
"""

from __future__ import annotations

from incoop.query.errors import Position, QueryError

#: Pig puts these before a name that has no package, and finds the class.
_PACKAGES = ("org.apache.pig.builtin.", "org.apache.pig.impl.builtin.")
_OWN_PYTHON = (
    "Write it in Python: REGISTER 'mine.py' USING jython AS mine, with @outputSchema('…') before the function."
)
#: What is said of classes whose names begin so, the first that fits.
_REMEDIES = (
    ("datafu.pig.stats.", "AVG, MIN, MAX and ORDER with LIMIT in a nested block go far. " + _OWN_PYTHON),
    ("datafu.pig.bags.Enumerate", "RANK numbers rows. " + _OWN_PYTHON),
    ("datafu.pig.sessions.", "Group by user, order in a nested block, and do the rest in Python. " + _OWN_PYTHON),
    ("datafu.", _OWN_PYTHON),
    ("com.twitter.elephantbird.", "JsonLoader reads JSON. " + _OWN_PYTHON),
    ("org.apache.pig.piggybank.storage.", "There are CSVExcelStorage, CSVLoader, MyRegExLoader and the log loaders."),
    ("org.apache.pig.piggybank.evaluation.xml.", _OWN_PYTHON),
    ("org.apache.hadoop.hive.", _OWN_PYTHON),
)


class JavaFunction(QueryError):
    """A function or a format of a Java class, which cannot be called here."""

    def __init__(self, name: str, remedy: str, position: Position | None = None) -> None:
        super().__init__(f"{name} is a Java class, and no Java is run here. {remedy}", position)
        self.args = (name, remedy, position)
        self.name, self.remedy = name, remedy


def plain_name(name: str) -> str:
    """The name without the packages that Pig would try by itself.

    Example:
        >>> plain_name("org.apache.pig.builtin.COUNT"), plain_name("org.example.Count")
        ('COUNT', 'org.example.Count')
    """
    for package in _PACKAGES:
        if name.startswith(package) and "." not in name[len(package) :]:
            return name[len(package) :]
    return name


def java_function(name: str, position: Position | None = None) -> JavaFunction:
    """What is said of a class that we have no function for."""
    remedy = next((said for start, said in _REMEDIES if name.startswith(start)), _OWN_PYTHON)
    return JavaFunction(name, remedy, position)
