"""Formats of records: bytes of whole records to rows or columns, and rows to bytes. No files are opened here.

- text_format.py: what a format is; fields.py: single fields
- delimited.py: fields between one sign; quoted.py: CSV with quotes; json_lines.py: an object a line; text_lines.py: a
line
- tagged.py: records of a format behind the name of their file
- arrow_text.py: delimited text by pyarrow's reader, where it reads the same
- parquet.py: columns in row groups; arrow_values.py: which of their types is which of ours

Imports schema, casts and expressions of `incoop.query`; pyarrow only where columns are asked for.
"""
