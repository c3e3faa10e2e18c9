"""mrjob: unmodified job files, run by mrjob's own runner with its steps on the engine.

Imports `fronts/common`, the session, the engine and what is below, and mrjob; no other way in.
"""

from incoop.fronts.mrjob import standard_distutils  # noqa: F401  - before anything else imports mrjob
