"""DuckDB: the text applications as SQL, from scratch every time."""

from __future__ import annotations

from pathlib import Path

from bench.apps.app import Answer, App, fingerprint
from bench.jobs.cooccurrence import WINDOW
from bench.runners.base import Measured, Stopwatch


def _pairs(distance: int) -> str:
    return f"list_zip(w[:-{distance + 1}], w[{distance + 1}:])"


_NEAR = f"flatten([{', '.join(_pairs(distance) for distance in range(1, WINDOW + 1))}])"

#: Application -> the keys that a line's words `w` give, and the columns of a key.
_KEYS = {
    "words": ("w", "k"),
    "bigrams": (_pairs(1), "k[1], k[2]"),
    "cooccurrence": (_NEAR, "least(k[1], k[2]), greatest(k[1], k[2])"),
}

#: A delimiter that text does not hold makes a line one column.
_LINES = "read_csv(?, columns={'line': 'VARCHAR'}, delim='\x01', quote='', escape='', header=false, auto_detect=false)"


class DuckDb:
    name = "duckdb"
    title = "DuckDB"

    def can(self, app: App) -> bool:
        return app.name in _KEYS

    def _rows(self, app: App, path: Path, fetch: bool) -> list[tuple[object, ...]]:
        import duckdb

        keys, columns = _KEYS[app.name]
        files = str(path / "*" if path.is_dir() else path)
        words = f"SELECT list_filter(string_split(line, ' '), lambda word: word <> '') AS w FROM {_LINES}"
        query = f"SELECT {columns}, count(*) AS n FROM (SELECT unnest({keys}) AS k FROM ({words})) GROUP BY ALL"
        with duckdb.connect() as connection:
            if fetch:
                return connection.execute(query, [files]).fetchall()
            connection.execute(f"CREATE TABLE counts AS {query}", [files])
            return connection.execute("SELECT count(*) FROM counts").fetchall()

    def run(self, app: App, path: Path) -> Measured:
        with Stopwatch() as watch:
            self._rows(app, path, fetch=False)
        return watch.measured

    def answer(self, app: App, path: Path) -> Answer:
        rows = self._rows(app, path, fetch=True)
        return fingerprint((key[0] if len(key) == 1 else tuple(key), count) for *key, count in rows)
