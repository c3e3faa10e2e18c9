"""Loaders and storers by the names that scripts call them: PigStorage, JsonLoader and the others, as formats of
queries.

What an analysis calls: `format_of(name, arguments, schema)` gives the Format of a LOAD or a STORE, `source_tag`
says whether a LOAD's rows begin with the name of their file, `schema_beside` whether it finds its schema beside the
data, `files_beside` what a STORE writes there; `dumped(row, fields)` is a row as DUMP prints it.

- storage.py: names to formats; pig_storage.py: PigStorage's arguments
- schema_file.py: schemas beside data
- csv_text.py: CSV as the piggybank reads it; pattern_lines.py: lines by regular expressions, and logs
- typed_lines.py: BinStorage, in a layout of our own

Imports `incoop.query`, and of Pig what functions and schemas are.
"""

from __future__ import annotations

from incoop.fronts.pig.formats.storage import dumped, files_beside, format_of, schema_beside, source_tag

__all__ = ["dumped", "files_beside", "format_of", "schema_beside", "source_tag"]
