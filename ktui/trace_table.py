"""A trace as a table: a tree of causes in which what is alike stands in one line.

Three Pods of a ReplicaSet go the same way, and one who reads it wants to see that way, not three copies of it. So steps
under one cause that do the same are one step with a count, and what followed from each is put together likewise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ktui.models.completion import common
from ktui.models.exchange import Exchange, Exchanges
from ktui.models.words import EXPLAINED, controller_name, kind_of
from ktui.trace_tree import STORE, Span, lamps_of, milliseconds, verb_of

HEADS = ("HOP", "STEP", "OBJECT", "REVISION", "WALL", "MODEL", "OUTCOME")
CONTROLLER = 9


@dataclass(slots=True)
class Step:
    """One line, or several that are alike. `then` stands below it at the same depth: what etcd did for a request."""

    hops: list[int]
    component: str
    verb: str
    objects: list[str]
    outcome: str
    order: tuple[str, int, int]
    revisions: list[int] = field(default_factory=list)
    wall_ms: float = 0.0
    model_ms: float = 0.0
    count: int = 1
    then: Step | None = None
    children: list[Step] = field(default_factory=list)

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Step:
        """The links of one request's chain, or one span; the last says how it ended."""
        first, last = spans[0], spans[-1]
        return cls(
            [span["hop"] for span in spans],
            last["component"],
            verb_of(last),
            [last["object"]],
            last["outcome"],
            (first["start"], first["hop"], first["sequence"]),
            [last["revision"]] if last["revision"] else [],
            sum(span["wall_ms"] for span in spans),
            sum(span["model_ms"] for span in spans),
        )

    @property
    def is_idle(self) -> bool:
        """A reconcile that had nothing to do."""
        return self.hops == [CONTROLLER] and self.outcome == "ok" and not self.children

    @property
    def alike(self) -> tuple[object, ...]:
        """What steps share that can stand in one line."""
        if self.is_idle:
            return ("idle",)
        kind, where = kind_of(self.objects[0]), self.component.partition(" ")[0]
        return (self.hops[0], where, self.verb, kind, self.outcome, self.then is not None)

    def take(self, other: Step) -> None:
        """The same again: of the times the longest, for they ran side by side."""
        if self.component != other.component:
            self.component = _together(self, other)
        self.hops = sorted({*self.hops, *other.hops})
        self.objects += other.objects
        self.revisions += other.revisions
        self.wall_ms, self.model_ms = max(self.wall_ms, other.wall_ms), max(self.model_ms, other.model_ms)
        self.count += other.count
        self.children += other.children
        if self.then is not None and other.then is not None:
            self.then.take(other.then)

    # -- words

    @property
    def text(self) -> str:
        times = f" ×{self.count}" if self.count > 1 else ""
        if self.is_idle:
            return f"{self.component}{times}: nothing to do"
        return f"{self.component} {self.verb}{times}"

    @property
    def object(self) -> str:
        names = list(dict.fromkeys(self.objects))
        if len(names) == 1:
            return names[0] or "-"
        shared = common(names)
        return f"{shared}*" if "/" in shared else "-"

    @property
    def revision(self) -> str:
        if not self.revisions:
            return "-"
        low, high = min(self.revisions), max(self.revisions)
        return str(low) if low == high else f"{low}-{high}"


def _together(one: Step, other: Step) -> str:
    """Idle controllers by their names; kubelets and proxies of several nodes without them."""
    if not one.is_idle:
        return one.component.partition(" ")[0]
    names = one.component.split(", ")
    return one.component if other.component in names else f"{one.component}, {other.component}"


def table(spans: Sequence[Span], *, fold: bool = True) -> list[str]:
    """The tree with its columns, ready to print, and below it what needs a word of explanation."""
    roots = tree(spans)
    if fold:
        roots = folded(roots)
    lines = list(_lines(roots, 0))
    rows = [HEADS, *(_row(depth, step) for depth, step in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS) - 1)]
    printed = [
        "   ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
    return [*printed, *_notes(step for _, step in lines)]


def _row(depth: int, step: Step) -> tuple[str, ...]:
    times = (milliseconds(step.wall_ms), milliseconds(step.model_ms))
    return (lamps_of(step.hops), f"{'  ' * depth}{step.text}", step.object, step.revision, *times, step.outcome)


def _lines(steps: Iterable[Step], depth: int) -> Iterator[tuple[int, Step]]:
    for step in steps:
        yield depth, step
        yield from _lines(step.children, depth + 1)
        if step.then is not None:
            yield depth, step.then
            yield from _lines(step.then.children, depth + 1)


def _notes(steps: Iterable[Step]) -> Iterator[str]:
    shown = list(steps)
    notes = [f"{outcome}: {words}" for outcome, words in EXPLAINED.items() if any(s.outcome == outcome for s in shown)]
    if any(step.count > 1 for step in shown):
        notes.insert(0, "×2, ×3, …: steps that are alike, with the times of the longest; --all prints each of them")
    yield from ["", *notes] if notes else []


# -- the tree


def tree(spans: Sequence[Span]) -> list[Step]:
    """Steps below what caused them, in the order in which they began; what was caused by nothing known are roots."""
    steps, causes = _steps(spans)
    known = {span["id"]: step for step, links in steps for span in links}
    roots: list[Step] = []
    for step, links in sorted(steps, key=lambda found: found[0].order):
        if id(step) in causes:  # it stands below its chain
            continue
        above = known.get(links[0]["parent"])
        (roots if above is None else above.children).append(step)
    return roots


def _steps(spans: Sequence[Span]) -> tuple[list[tuple[Step, list[Span]]], set[int]]:
    """Each step with its spans; and those, by their ids, that stand below the chain of their request."""
    exchanges, found = Exchanges(), list[tuple[Step, list[Span]]]()
    requests: dict[int, tuple[Exchange, list[Span]]] = {}
    for span in sorted(spans, key=lambda span: span["sequence"]):
        if 2 <= span["hop"] <= STORE:
            exchange, _ = exchanges.add(span)
            requests.setdefault(id(exchange), (exchange, []))[1].append(span)
        else:
            found.append((Step.of([span]), [span]))
    below: set[int] = set()
    for _, links in requests.values():
        chain, writes = [s for s in links if s["hop"] < STORE], [s for s in links if s["hop"] == STORE]
        above = Step.of(chain) if chain else None
        if above is not None:
            found.append((above, chain))
        for span in writes:
            write = Step.of([span])
            found.append((write, [span]))
            if above is not None and above.then is None:
                above.then = write
                below.add(id(write))
    return found, below


def folded(steps: Sequence[Step]) -> list[Step]:
    """Steps that are alike put together, and what follows from them likewise."""
    groups: dict[tuple[object, ...], list[Step]] = defaultdict(list)
    for step in steps:
        groups[step.alike].append(step)
    whole = []
    for first, *others in groups.values():
        if first.is_idle:
            first.component = controller_name(first.component)
        for other in others:
            other.component = controller_name(other.component) if other.is_idle else other.component
            first.take(other)
        whole.append(first)
    for step in whole:
        step.children = folded(step.children)
        if step.then is not None:
            step.then.children = folded(step.then.children)
    return whole
