"""Everything from a Pig script's text to a complete syntax tree: pure, without Spark, without knowing what names mean.

The way of a script is `script.py`: `read_script(path, parameters)` and `parse_script(text, parameters)` give a
`PigScript`, whose statements have no macros and no imports any more, or raise a `PigSyntaxError` (errors.py).

parameters.py       -param, -param_file, and what parameters are worth
substitution.py     a text with its parameters replaced, %declare and %default obeyed, bodies of macros cut out
file_text.py        a file, no longer than a script can be
places.py           where each character of such a text stands in a file
grammar.lark        the language; words.py its words, and what they are called in errors
tables.py           the parser that lark makes of it, kept once made
parser.py           a text to statements, through
build.py            the parse tree to nodes: statements and what makes relations; build_terms.py: expressions and types;
                    commands.py: DUMP, SET, fs and the other lines; literals.py: texts and numbers
explain_failure.py  why a text is no Pig Latin
macros.py           statements without macros and imports
print_script.py     a tree back to text; print_terms.py: expressions

The tree, made for an analysis by name and type:
nodes.py            what all nodes are: frozen, equal by what they say, with a place that equality leaves out
statements.py       what a script is a sequence of
operators.py        what makes relations, and what stands in blocks of FOREACH
terms.py            expressions, types, schemas
A name that is given or used as a relation is a `RelationName`, a name in an expression a `NameTerm`, whatever it turns
out to be. Alternatives are
unions (`Statement`, `RelationalOperator`, `NestedOperator`, `Term`, `TypeName`), so that mypy checks that a `match` has
all of them. What a script may leave out is None, or an empty tuple where several may stand.

Imports `incoop.base` alone. lark is imported when the first text is parsed.
"""
