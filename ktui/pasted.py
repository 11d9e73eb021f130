"""Text pasted by a terminal that does not say so (no bracketed paste): it comes as keys, faster than anybody types.

As keys it would describe, delete and restart whatever is under the cursor. A burst that opens a line with `:` or `/`,
perhaps on another screen first, is what a script sends. A key that is held down sends few different ones.
No key waits to see what follows it, so the first one of a paste has done what it does before the others are known: no
letter changes an object unasked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from textual import events

GAP_SECONDS = 0.02  # between two keys of one burst, at most
MANY = 24  # keys that nobody types within a few reads of the terminal
DIFFERENT = 6
OPENING = frozenset(":/")
OPENED_BY = 2  # keys
_IN_TEXT = frozenset({"enter", "tab", "ctrl+j"})  # what is not printable in a text, as a terminal sends it


def is_text(event: events.Event) -> bool:
    """Whether it could be a character of a pasted text."""
    return isinstance(event, events.Key) and (event.is_printable or event.key in _IN_TEXT)


def burst(waiting: Sequence[events.Event]) -> int:
    """How many of the keys that wait came together, as text."""
    together = takewhile(lambda pair: _follows(*pair), pairwise(waiting))
    return 1 + sum(1 for _ in together) if waiting and is_text(waiting[0]) else 0


def _follows(before: events.Event, event: events.Event) -> bool:
    return is_text(event) and event.time - before.time < GAP_SECONDS


def is_pasted(keys: Sequence[events.Event]) -> bool:
    """Whether a burst is a text that no key line was meant for."""
    typed = [event.character or "" for event in keys if isinstance(event, events.Key)]
    return len(typed) >= MANY and OPENING.isdisjoint(typed[:OPENED_BY]) and len(set(typed)) >= DIFFERENT
