"""The applications of the Incoop paper's evaluation (its table 1), and a log analysis (its appendix A.1).

Their functions are in `bench/jobs`, in files as users write them.
"""

from __future__ import annotations

from bench.apps import bigrams, clicks, cooccurrence, kmeans, knn, words
from bench.apps.app import App

#: By name, in the order of the tables.
APPS: dict[str, App] = {each.APP.name: each.APP for each in (words, cooccurrence, bigrams, kmeans, knn, clicks)}

#: The paper's five; `clicks` belongs to the experiment on logs alone.
PAPER_APPS = ("words", "cooccurrence", "bigrams", "kmeans", "knn")
