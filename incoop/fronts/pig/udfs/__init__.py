"""Functions that a user wrote in Python: REGISTER 'x.py' USING jython AS ns.

What an analysis calls: `load_udfs(path, language, namespace)` gives a UserFunction by each name (`ns.f`, or `f`), whose
`call(arguments, position)` is the expression of a call.

Imports `incoop.query`, Pig's syntax, fingerprint and code.
"""
