"""A trace as a mermaid sequence diagram: who asks whom, what etcd writes, whom the watch event wakes.

What is alike stands in one line, as in the table: a request is one arrow, however many links its chain has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.trace.span import Hop
from ktui.trace_table import Step, folded, tree
from ktui.trace_tree import LANES, STORE, WATCH, Span, lamps_of

CLIENT, API_SERVER, ETCD = (str(hop.lane) for hop in (Hop.CLIENT, Hop.WATCH, Hop.STORE))
_ENTITIES = str.maketrans({"#": "#35;", ";": "#59;"})  # either would end the message


def mermaid(spans: Sequence[Span]) -> str:
    """The diagram's source, which GitHub and many editors draw."""
    lines = ["sequenceDiagram", *(f"    participant {lane}" for lane in LANES)]
    return "\n".join([*lines, *(f"    {message}" for message in _messages(folded(tree(spans)), None))])


def _messages(steps: Sequence[Step], cause: Step | None) -> Iterator[str]:
    """What steps say, each followed by what came of it; `cause` is what they came of."""
    for step in steps:
        if step.hops[0] != Hop.CLIENT or not step.children:  # a client's request is told with the chain that takes it
            yield _message(step, cause)
        if step.then is not None:
            yield _message(step.then, step)
            yield from _messages(step.then.children, step.then)
        yield from _messages(step.children, step)


def _message(step: Step, cause: Step | None) -> str:
    lane = _lane(step)
    origin = _lane(cause) if cause is not None else CLIENT if lane == API_SERVER else lane
    is_news = step.hops[0] == WATCH or (cause is not None and cause.hops[0] in (STORE, WATCH))
    if step.hops[0] == Hop.CLIENT:
        lane = API_SERVER
    elif is_news:  # etcd tells the API server, and that tells all who watch
        origin = ETCD if step.hops[0] == WATCH else API_SERVER
    arrow = "-x" if step.outcome != "ok" else "--)" if is_news else "->>"
    outcome = f": {step.outcome}" if step.outcome != "ok" else ""
    of = "" if step.is_idle or step.object == "-" else f" {step.object}"
    text = f"{lamps_of(step.hops)} {step.text}{of}{outcome}"
    return f"{origin}{arrow}{lane}: {text.translate(_ENTITIES)}"


def _lane(step: Step) -> str:
    return str(Hop(step.hops[0]).lane)
