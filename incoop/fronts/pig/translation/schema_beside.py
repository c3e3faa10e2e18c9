"""The fields of a LOAD, from AS or from the schema that lies beside the data.

Contract: as in Pig, a `.pig_schema` is looked for in a folder that is named, and beside a file; the first one counts.
AS says more: names always, types where it has any. A folder that the script has stored into has the schema that it was
stored with, whatever lies there from before.
"""

from __future__ import annotations

from pathlib import Path

from incoop.base.own_files import read_regular
from incoop.fronts.pig import formats
from incoop.fronts.pig.errors import PigPosition
from incoop.fronts.pig.formats.schema_file import SCHEMA_FILE, read_schema_file
from incoop.fronts.pig.named_paths import choices_of, existing, parts_of
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.translation.scope import ScriptScope
from incoop.query.errors import BadPlan
from incoop.query.types import BYTES, TEXT, Field

Fields = tuple[Field, ...]


def with_schema_beside(
    called: o.FunctionReference, path: str, declared: Fields | None, script: ScriptScope, where: PigPosition
) -> Fields | None:
    """The fields of a LOAD; None where they are not known."""
    arguments = called.arguments or ()
    asked = formats.schema_beside(called.name, arguments, where)
    found = None if asked == "no" else _beside(path, script)
    if found is None:
        if asked == "must" and declared is None:
            raise BadPlan(
                f"there is no {SCHEMA_FILE} beside {path}, which -schema asks for. Declare the fields with AS, or "
                "store the data USING PigStorage(',', '-schema').",
                where,
            )
        return declared
    tag = formats.source_tag(called.name, arguments, where)
    if tag is not None:
        found = (Field(f"INPUT_FILE_{'NAME' if tag == 'file' else 'PATH'}", TEXT), *found)
    if declared is None:
        return found
    if len(declared) != len(found):
        return declared
    return tuple(
        Field(own.name, its.type if own.type == BYTES else own.type, own.qualifiers)
        for own, its in zip(declared, found, strict=True)
    )


def _beside(path: str, script: ScriptScope) -> Fields | None:
    for part in parts_of(path):
        for choice in choices_of(part):
            whole = (script.folder / choice).absolute().resolve()
            for folder in (whole, *whole.parents):
                if folder in script.stored:
                    return script.stored[folder]
            for each in existing(choice, script.folder):
                folder = Path(each)
                text = _text(folder / SCHEMA_FILE if folder.is_dir() else folder.parent / SCHEMA_FILE)
                if text is not None:
                    return read_schema_file(text)
    return None


def _text(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except OSError:
        return None
