"""A placed text to statements, or an error that its author can use. The only file that calls lark's parser."""

from __future__ import annotations

from incoop.fronts.pig.syntax.build import build
from incoop.fronts.pig.syntax.places import PlacedText
from incoop.fronts.pig.syntax.statements import Statement
from incoop.fronts.pig.syntax.tables import pig_parser


def parse_text(text: PlacedText) -> tuple[Statement, ...]:
    """The statements of a text whose parameters were replaced; macros and imports are among them."""
    from lark.exceptions import UnexpectedInput

    parser = pig_parser()
    try:
        tree = parser.parse(text.text)
    except UnexpectedInput as error:
        from incoop.fronts.pig.syntax.explain_failure import explain_failure

        raise explain_failure(parser, text, error) from None
    return build(tree, text)
