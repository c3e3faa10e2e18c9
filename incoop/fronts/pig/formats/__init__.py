"""Loaders and storers by the names that scripts call them: PigStorage, JsonLoader and the others, as formats of queries.

What an analysis calls: `format_of(name, arguments, schema)` gives the TextFormat of a LOAD or a STORE;
`source_tag(name, arguments)` says whether it puts the file's name before each row; `dumped(row)` is a row as DUMP
prints it.

Imports `incoop.query`, Pig's functions and its syntax.
"""
