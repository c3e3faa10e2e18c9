"""Names of loaders and storers to formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from incoop.fronts.pig.formats.csv_text import CsvLines, CsvRecords
from incoop.fronts.pig.formats.pattern_lines import COMBINED_LOG, COMMON_LOG, PatternLines
from incoop.fronts.pig.formats.pig_storage import SchemaBeside, SourceTag, delimiter_of, storage_options
from incoop.fronts.pig.formats.schema_file import schema_files
from incoop.fronts.pig.formats.typed_lines import TypedLines
from incoop.fronts.pig.functions.java_names import JavaFunction, plain_name
from incoop.fronts.pig.functions.java_regex import BadPattern
from incoop.fronts.pig.schema_text import read_schema
from incoop.query.casts import text_of
from incoop.query.errors import BadPlan, Position, UnknownFunction
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.json_lines import JsonLines
from incoop.query.sources.parquet import Parquet
from incoop.query.sources.tagged import TaggedText
from incoop.query.sources.text_format import Format, TextFormat
from incoop.query.sources.text_lines import TextLines
from incoop.query.types import BYTES, Field, Row, TupleType

_BANK = "org.apache.pig.piggybank.storage."
#: Those that take PigStorage's options; the second keeps schemas always.
_STORAGES = ("PigStorage", _BANK + "PigStorageSchema")
#: Loaders that are there in Pig and not here, by the end of their names, and what to write.
_INSTEAD = {
    "AvroStorage": "Convert the files to JSON lines, and use JsonLoader.",
    "OrcStorage": "Convert the files to CSV or JSON lines.",
    "TrevniStorage": "Convert the files to JSON lines, and use JsonLoader.",
    "HBaseStorage": "Export the table to files, and load these.",
    "HCatLoader": "Name the table's files, with PigStorage('\\u0001').",
    "HCatStorer": "STORE … USING PigStorage('\\u0001') into the table's folder.",
    "SequenceFileLoader": "Convert the files to text, and use PigStorage.",
    "XMLLoader": "Use TextLoader, and take the text apart with REGEX_EXTRACT or in Python.",
    "MultiStorage": "SPLIT the relation, and STORE each part.",
    "DBStorage": "STORE … USING CSVExcelStorage(), and let the database import it.",
    "LogFormatLoader": "Use CommonLogLoader, CombinedLogLoader or MyRegExLoader.",
    "FixedWidthLoader": "Use TextLoader, and SUBSTRING(line, from, to).",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A loader or storer as a script names it."""

    name: str
    arguments: tuple[str, ...]
    schema: Schema
    position: Position | None
    loads: bool = False

    def takes(self, most: int, said: str) -> None:
        if len(self.arguments) > most:
            raise BadPlan(f"{self.name} takes {said}.", self.position)


def format_of(
    name: str,
    arguments: Sequence[str] = (),
    schema: Schema | None = None,
    position: Position | None = None,
    loads: bool = False,
) -> Format:
    """The format of a LOAD or a STORE; the schema is what AS declares, or what the rows to store have.

    Of a LOAD that is to put the file's name before each row, the schema has it as its first field.

    Example:
        >>> format_of("org.apache.pig.builtin.PigStorage", [","]).delimiter
        ','
    """
    plain = plain_name(name)
    known = FORMATS.get(plain)
    if known is not None:
        try:
            return known(_Asked(plain.rpartition(".")[2], tuple(arguments), schema or Schema(None), position, loads))
        except BadPattern as trouble:
            raise BadPlan(trouble.message, position) from None
    last = plain.rpartition(".")[2]
    if last in _INSTEAD:
        raise JavaFunction(name, _INSTEAD[last], position)
    if "." in plain:
        raise JavaFunction(name, f"There are {', '.join(_SHORT)}.", position)
    raise UnknownFunction(plain, _SHORT, position)


def source_tag(name: str, arguments: Sequence[str] = (), position: Position | None = None) -> SourceTag | None:
    """What PigStorage is to put before each row: `-tagFile` the file's name, `-tagPath` its path."""
    return storage_options(arguments, position).tag if plain_name(name) in _STORAGES else None


def schema_beside(name: str, arguments: Sequence[str] = (), position: Position | None = None) -> SchemaBeside:
    """Whether a LOAD without AS finds its schema beside the data."""
    plain = plain_name(name)
    if plain in _STORAGES:
        found = storage_options(arguments, position).beside
        return "must" if plain != "PigStorage" and found == "may" else found
    return "may" if plain == "JsonLoader" and not arguments else "no"


def files_beside(
    name: str, arguments: Sequence[str], form: Format, position: Position | None = None
) -> dict[str, bytes]:
    """What a STORE writes beside the data, by names of files."""
    plain, fields = plain_name(name), form.schema.fields
    if fields is None:
        return {}
    if plain in _STORAGES:
        options = storage_options(arguments, position)
        return schema_files(fields, options.delimiter) if options.schema or plain != "PigStorage" else {}
    return schema_files(fields, "\t") if plain == "JsonStorage" else {}


def dumped(row: Row, fields: Sequence[Field] | None) -> str:
    """A row as DUMP prints it.

    Example:
        >>> dumped(("a", None, [(1, 2.0)], {"k": True}), None)
        '(a,,{(1,2.0)},[k#true])'
    """
    return text_of(row, TupleType(None if fields is None else tuple(fields)))


def _pig_storage(asked: _Asked) -> TextFormat:
    options = storage_options(asked.arguments, asked.position)
    if not asked.loads or options.tag is None:
        return DelimitedText(asked.schema, options.delimiter)
    fields = asked.schema.fields
    if fields == ():
        raise BadPlan(f"-tag{options.tag.title()} makes a field; AS has none.", asked.position)
    rest = DelimitedText(Schema(None if fields is None else fields[1:]), options.delimiter)
    return TaggedText(asked.schema, rest, options.tag == "path")


def _lines(asked: _Asked) -> TextFormat:
    asked.takes(0, "no arguments")
    fields = asked.schema.fields
    if fields is None:
        return TextLines(Schema((Field(None, BYTES),)))
    if len(fields) != 1:
        raise BadPlan("TextLoader gives one field, the line: write AS (line: chararray).", asked.position)
    return TextLines(asked.schema)


def _json_in(asked: _Asked) -> TextFormat:
    asked.takes(1, "a schema")
    if not asked.arguments:
        if asked.schema.fields is None:
            raise BadPlan(
                "JsonLoader finds fields by their names, and there is no .pig_schema beside the data: write "
                "JsonLoader('name: chararray, age: int').",
                asked.position,
            )
        return JsonLines(asked.schema)
    said = Schema(read_schema(asked.arguments[0], asked.position))
    declared = asked.schema.fields
    if declared is None:
        return JsonLines(said)
    if [each.name for each in declared] != [each.name for each in said.fields or ()]:
        raise BadPlan("JsonLoader('…') and AS name different fields. Say them in one of the two.", asked.position)
    return JsonLines(asked.schema)


def _json_out(asked: _Asked) -> TextFormat:
    fields = asked.schema.fields
    if fields is None:
        raise BadPlan("JsonStorage needs to know the fields. Declare them where they are loaded.", asked.position)
    # Fields without a name have one of their place, so that what is stored can be loaded.
    return JsonLines(Schema(tuple(Field(each.name or f"val_{at}", each.type) for at, each in enumerate(fields))))


def _parquet_in(asked: _Asked) -> Format:
    """Columns by name: those that AS or the argument declares, as the types that they have in the files."""
    asked.takes(1, "a schema")
    declared = asked.schema
    if asked.arguments:
        said = Schema(read_schema(asked.arguments[0], asked.position))
        if declared.fields is not None and [each.name for each in declared.fields] != [
            each.name for each in said.fields or ()
        ]:
            raise BadPlan(
                "ParquetLoader('…') and AS name different fields. Say them in one of the two.", asked.position
            )
        declared = said if declared.fields is None else declared
    if declared.fields is None:
        raise BadPlan(
            "ParquetLoader finds columns by their names: write ParquetLoader('name: chararray, age: int').",
            asked.position,
        )
    return Parquet(declared)


def _parquet_out(asked: _Asked) -> Format:
    asked.takes(0, "no arguments")
    if asked.schema.fields is None:
        raise BadPlan("ParquetStorer needs to know the fields. Declare them where they are loaded.", asked.position)
    return Parquet(asked.schema)


def _typed(asked: _Asked) -> TextFormat:
    return TypedLines(asked.schema)


def _csv_loader(asked: _Asked) -> TextFormat:
    asked.takes(0, "no arguments; CSVExcelStorage(';') takes a delimiter")
    return CsvLines(asked.schema)


def _csv_excel(asked: _Asked) -> TextFormat:
    asked.takes(
        4, "a delimiter, YES_MULTILINE or NO_MULTILINE, UNIX, WINDOWS or NOCHANGE, and what is done with headers"
    )
    given = (*asked.arguments, *("", "NO_MULTILINE", "NOCHANGE", "DEFAULT")[len(asked.arguments) :])
    delimiter, multiline, ends, headers = given
    choices = (
        (multiline, ("YES_MULTILINE", "NO_MULTILINE")),
        (ends, ("UNIX", "WINDOWS", "NOCHANGE")),
        (headers, ("DEFAULT", "READ_INPUT_HEADER", "SKIP_INPUT_HEADER", "WRITE_OUTPUT_HEADER", "SKIP_OUTPUT_HEADER")),
    )
    for word, known in choices:
        if word.upper() not in known:
            raise BadPlan(f"CSVExcelStorage knows no {word!r} there; it knows {', '.join(known)}.", asked.position)
    if headers.upper() == "WRITE_OUTPUT_HEADER":
        raise BadPlan(
            "a header would stand in every part of what is stored, and be a row of whoever loads it. Leave "
            "WRITE_OUTPUT_HEADER out, and put the names before the parts: (echo 'a,b'; cat out/part-*) > out.csv.",
            asked.position,
        )
    sign = delimiter_of(delimiter, asked.position) if delimiter else ","
    end = b"\r\n" if ends.upper() == "WINDOWS" else b"\n"
    skip = headers.upper() == "SKIP_INPUT_HEADER"
    kind = CsvRecords if multiline.upper() == "YES_MULTILINE" else CsvLines
    return kind(asked.schema, sign, skip, end)


def _pattern(asked: _Asked) -> TextFormat:
    if len(asked.arguments) != 1:
        raise BadPlan(f"{asked.name} takes a regular expression.", asked.position)
    return PatternLines(asked.schema, asked.arguments[0].replace("\\\\", "\\"))


def _log(pattern: str) -> Callable[[_Asked], TextFormat]:
    def made(asked: _Asked) -> TextFormat:
        asked.takes(0, "no arguments")
        return PatternLines(asked.schema, pattern)

    return made


#: By the names of their classes, and by what comes behind the last dot: DEFINE often gives them that name.
FORMATS: dict[str, Callable[[_Asked], Format]] = {
    "PigStorage": _pig_storage,
    "PigStreaming": _pig_storage,
    _BANK + "PigStorageSchema": _pig_storage,
    "TextLoader": _lines,
    "JsonLoader": _json_in,
    "JsonStorage": _json_out,
    "BinStorage": _typed,
    _BANK + "CSVLoader": _csv_loader,
    _BANK + "CSVExcelStorage": _csv_excel,
    _BANK + "MyRegExLoader": _pattern,
    _BANK + "apachelog.CommonLogLoader": _log(COMMON_LOG),
    _BANK + "apachelog.CombinedLogLoader": _log(COMBINED_LOG),
    "org.apache.parquet.pig.ParquetLoader": _parquet_in,
    "parquet.pig.ParquetLoader": _parquet_in,
    "org.apache.parquet.pig.ParquetStorer": _parquet_out,
    "parquet.pig.ParquetStorer": _parquet_out,
}
_SHORT = tuple(name.rpartition(".")[2] for name in FORMATS)
FORMATS |= {name.rpartition(".")[2]: made for name, made in FORMATS.items()}
