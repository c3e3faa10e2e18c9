"""Plans carried out: compiled to memoized stages, which are chained through their results.

- query.py: a query, and what it gives; compile.py: plans to stages, run as they are compiled; stages.py: one as a job
- joining.py: joins, with the aggregation above one; join_columns.py: what sides send, all keys of a shard at once;
states.py: states of groups that a join gave; stored_columns.py: columns as the engine stores them; skew.py: keys with
very many rows, joined in parts; broadcast.py: a small side that travels to the mapper of the other
- ordering.py: sorts, first rows, ranks
- relations.py: rows on their way; records.py, reading.py: files and results to rows; held.py: rows by column or one by
one; steps.py: what is done with each; sinks.py: what is sent to a stage; mapper.py: all of these as a mapper
- parquet_input.py: Parquet files as blocks; parquet_groups.py: what names a row group, and how it is read;
parquet_index.py: what is known of files that did not change
- keys.py, order_bytes.py: keys of groups, and what rows are sorted by; reducers.py: what becomes of a key's values
- explain.py: what would run; stream.py: rows through a command; save.py: part files; report.py: what ran
- sessions.py: what is needed of a session

Imports `incoop.query`, jobs and the engine; sessions and results are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incoop.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from incoop.query.execution.query import Query, QueryResult

#: Workers load mappers and reducers from here, and nothing of what compiles plans.
_HOME_OF = {"Query": "query", "QueryResult": "query"}

__all__ = ["Query", "QueryResult"]

__getattr__ = lazy_names(__name__, _HOME_OF)
