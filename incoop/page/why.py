"""What was not reused, and the reason: once where it is one for the whole run, else for each chunk."""

from __future__ import annotations

from incoop.page.facts import Fate, MappedChunk, RunFacts
from incoop.page.texts import LONGEST, text, within

#: Rows of the table, and bytes of it: somebody looks for an example, not for all.
_ROWS, _BYTES = 200, 60_000

_CODE_BYTES = 20_000

_REASONS = {
    Fate.PATCHED: "a part of it is new; the rest is as in the chunk that stood there before",
    Fate.MAPPED: "its content is new",
    Fate.LOST: "the last run had it, but what was stored of it is damaged or gone",
}


def why_not(facts: RunFacts) -> str:
    """The section's content."""
    if not facts.mapped and not facts.changed_code:
        # Either nothing changed, or chunks went or came back: then the tree and some keys were all that ran.
        return f"<p>Every chunk was reused{_because(facts)}.</p>"
    parts = []
    if facts.changed_code:
        parts.append(_code(facts))
    everything = len(facts.mapped) == len(facts.fates) and not any(c.fate is Fate.LOST for c in facts.mapped)
    if facts.mapped and everything and (facts.changed_code or all(c.fate is Fate.MAPPED for c in facts.mapped)):
        parts.append(f"<p>All {_chunks(len(facts.fates))} for one reason: {text(facts.why, 2 * LONGEST)}.</p>")
    elif facts.mapped:
        parts += [f"<p>{text(_upper(facts.why), 2 * LONGEST)}.{_gone(facts)}</p>", _table(facts)]
    return "".join(parts)


def _because(facts: RunFacts) -> str:
    gone = f"; {_chunks(facts.gone)} of the last run are gone" if facts.gone else ""
    return f": {text(facts.why)}{gone}" if facts.why else ""


def _code(facts: RunFacts) -> str:
    rows, all_of_them = within((f"<li>{text(part)}</li>" for part in facts.changed_code), _CODE_BYTES)
    more = "" if all_of_them else f"<li>and {len(facts.changed_code) - len(rows):,} more</li>"
    return f'<p>Code is not what it was when the job last ran:</p><ul class="code">{"".join(rows)}{more}</ul>'


def _table(facts: RunFacts) -> str:
    named = [chunk for chunk in facts.mapped if chunk.place]
    rows, _ = within(map(_row, named[:_ROWS]), _BYTES)
    left = len(facts.mapped) - len(rows)
    more = f'<p class="note">and {_chunks(left)} more.</p>' if left else ""
    head = '<thead><tr><th scope="col">chunk, and why</th><th scope="col" class="n">bytes mapped</th></tr></thead>'
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>{more}"


def _row(chunk: MappedChunk) -> str:
    kind = chunk.fate.name.lower()
    return (
        f'<tr><td><span class="key {kind}"></span><span class="data">{text(chunk.place)}</span>'
        f'<br><span class="note">{kind}: {_REASONS[chunk.fate]}</span></td>'
        f'<td class="n">{chunk.mapped:,}<br><span class="note">of {chunk.size:,}</span></td></tr>'
    )


def _gone(facts: RunFacts) -> str:
    return f" {_chunks(facts.gone)} of the last run {'is' if facts.gone == 1 else 'are'} gone." if facts.gone else ""


def _chunks(count: int) -> str:
    return f"{count:,} chunk{'' if count == 1 else 's'}"


def _upper(said: str) -> str:
    return said[:1].upper() + said[1:]
