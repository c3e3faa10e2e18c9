"""The report page of a run: one file for a browser, which needs nothing else.

Reads a result's events, report, history and pairs, and nothing of the engine's inside.

write.py     the page, written whole or not at all
facts.py     what became of each chunk and node, from events
sections.py  the parts of the page, in their order
why.py       what was not reused, and the reason
values.py    the result: what changed, a table, a series
series.py    pairs whose keys are times
charts.py    pictures, as inline SVG with their text
texts.py     text that no browser obeys; numbers for people
style.py     how it looks
"""

from incoop.page.write import demand_place, write_page

__all__ = ["demand_place", "write_page"]
