"""What was not reused, and the reason: once where it is one for the whole run, else for each chunk."""

from __future__ import annotations

from incoop.page.facts import Fate, MappedChunk, RunFacts
from incoop.page.texts import LONGEST, table, text, within

#: Chunks that are listed of one kind, and the bytes of the list: somebody looks for an example, not for all.
_ROWS, _BYTES = 150, 20_000

_CODE_BYTES = 20_000

_REASONS = {
    Fate.PATCHED: "some bytes are new, the rest is as in the chunk that stood there before",
    Fate.MAPPED: "the content is new",
    Fate.LOST: "stored by the last run, and damaged or gone since",
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
        reason = "that" if facts.changed_code else f"one reason: {text(facts.why, 2 * LONGEST)}"
        parts.append(f"<p>All {_chunks(len(facts.fates))} were mapped for {reason}.</p>")
    elif facts.mapped:
        parts += [f"<p>{text(_upper(facts.why), 2 * LONGEST)}.{_gone(facts)}</p>"]
        parts += [_listed(facts, fate) for fate in reversed(_REASONS)]
    else:
        parts.append("<p>Every chunk was reused; what depends on that code was computed again from there.</p>")
    return "".join(parts)


def _because(facts: RunFacts) -> str:
    gone = f"; {_chunks(facts.gone)} of the last run are gone" if facts.gone else ""
    return f": {text(facts.why)}{gone}" if facts.why else ""


def _code(facts: RunFacts) -> str:
    rows, all_of_them = within((f"<li>{text(part)}</li>" for part in facts.changed_code), _CODE_BYTES)
    more = "" if all_of_them else f"<li>and {len(facts.changed_code) - len(rows):,} more</li>"
    return f'<p>Code is not what it was when the job last ran:</p><ul class="code">{"".join(rows)}{more}</ul>'


def _listed(facts: RunFacts, fate: Fate) -> str:
    """The chunks of one kind, below the reason that they share."""
    chunks = [chunk for chunk in facts.mapped if chunk.fate is fate]
    if not chunks:
        return ""
    rows, _ = within(map(_row, [chunk for chunk in chunks if chunk.place][:_ROWS]), _BYTES)
    left = len(chunks) - len(rows)
    more = f'<p class="note">and {_chunks(left)} that are not listed.</p>' if left else ""
    kind = fate.name.lower()
    said = f'<h3><span class="key {kind}"></span>{_chunks(len(chunks))} {kind}: {_REASONS[fate]}</h3>'
    return said + table((("chunk", False), ("bytes mapped", True)), rows, "data") + more


def _row(chunk: MappedChunk) -> str:
    return f'<tr><td>{text(chunk.place)}</td><td class="n">{chunk.mapped:,} <i>of {chunk.size:,}</i></td></tr>'


def _gone(facts: RunFacts) -> str:
    return f" {_chunks(facts.gone)} of the last run {'is' if facts.gone == 1 else 'are'} gone." if facts.gone else ""


def _chunks(count: int) -> str:
    return f"{count:,} chunk{'' if count == 1 else 's'}"


def _upper(said: str) -> str:
    return said[:1].upper() + said[1:]
