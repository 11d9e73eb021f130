"""Counters, gauges and histograms as Prometheus knows them, for components that keep figures of themselves.

A component offers its families as a view (`engine.views`) named `COMPONENT/metrics`; the API server of its process
writes them on /metrics, where upstream's components would serve them themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple


class Sample(NamedTuple):
    """`suffix` is what a histogram's samples have after their name; `taken` when it was measured, in milliseconds since
    1970, where that is not when it is asked for."""

    labels: Mapping[str, str]
    value: float
    suffix: str = ""
    taken: int | None = None


def exponential_buckets(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Upper bounds, each `factor` times the one before."""
    bounds = [start]
    while len(bounds) < count:
        bounds.append(bounds[-1] * factor)
    return tuple(bounds)


class Distribution:
    """How many observations fell below each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float, *, times: int = 1) -> None:
        self._counts[bisect_left(self._bounds, value)] += times
        self._sum += value * times

    @property
    def count(self) -> int:
        return sum(self._counts)

    @property
    def seen(self) -> bool:
        return any(self._counts)

    def samples(self, labels: Mapping[str, str]) -> Iterator[Sample]:
        seen = 0
        for bound, count in zip((*self._bounds, None), self._counts, strict=True):
            seen += count
            yield Sample({**labels, "le": "+Inf" if bound is None else _number(bound)}, seen, "_bucket")
        yield Sample(labels, self._sum, "_sum")
        yield Sample(labels, seen, "_count")


@cache
def _number(value: float) -> str:
    """The shortest text that stands for the number, as Go writes it."""
    return repr(float(value)).removesuffix(".0")


class Family:
    """One metric: its samples differ in the values of its labels."""

    kind = ""

    def __init__(self, name: str, help: str, *labels: str) -> None:
        self.name = name
        self.help = help
        self._labels = labels

    def samples(self) -> Iterator[Sample]:
        raise NotImplementedError

    def _named(self, values: tuple[str, ...]) -> dict[str, str]:
        """The labels in the order of their names, as Prometheus' own client writes them."""
        return dict(sorted(zip(self._labels, values, strict=True)))

    def to_json(self) -> dict[str, Any]:
        samples = [{"labels": dict(s.labels), "value": s.value, "suffix": s.suffix} for s in self.samples()]
        return {"name": self.name, "type": self.kind, "help": self.help, "samples": samples}


class Gauge(Family):
    kind = "gauge"

    def __init__(self, name: str, help: str, *labels: str) -> None:
        super().__init__(name, help, *labels)
        # One without labels is there from the start, one with labels once something was said of it.
        self._values: dict[tuple[str, ...], float] = {} if labels else {(): 0}

    def add(self, *values: str, by: float = 1) -> None:
        self._values[values] = self._values.get(values, 0) + by

    def set(self, *values: str, to: float) -> None:
        self._values[values] = to

    def replace(self, values: Mapping[str, float]) -> None:
        """All that one with a single label has to say now."""
        self._values = {(label,): value for label, value in values.items()}

    def samples(self) -> Iterator[Sample]:
        named = [(self._named(values), value) for values, value in self._values.items()]
        for labels, value in sorted(named, key=_by_labels):
            yield Sample(labels, value)


class Counter(Gauge):
    kind = "counter"

    def count(self, histogram: Histogram) -> None:
        """All that was observed, by the same labels."""
        for values, found in histogram.distributions():
            self.set(*values, to=found.count)


class Histogram(Family):
    kind = "histogram"

    def __init__(self, name: str, help: str, *labels: str, buckets: Sequence[float]) -> None:
        super().__init__(name, help, *labels)
        self._buckets = buckets
        self._found: dict[tuple[str, ...], Distribution] = {} if labels else {(): Distribution(buckets)}

    def observe(self, value: float, *values: str) -> None:
        self.of(*values).observe(value)

    def of(self, *values: str) -> Distribution:
        """Where the observations go that have these labels, for who has many."""
        found = self._found.get(values)
        if found is None:
            found = self._found[values] = Distribution(self._buckets)
        return found

    def distributions(self) -> Iterator[tuple[tuple[str, ...], Distribution]]:
        """Of labels that something was observed with; without labels there is one from the start."""
        return ((values, found) for values, found in self._found.items() if found.seen or not values)

    def samples(self) -> Iterator[Sample]:
        named = [(self._named(values), found) for values, found in self.distributions()]
        for labels, found in sorted(named, key=_by_labels):
            yield from found.samples(labels)


def _by_labels(pair: tuple[Mapping[str, str], object]) -> tuple[str, ...]:
    return tuple(pair[0].values())


class Told(Family):
    """A histogram of distributions that somebody else keeps; one that has seen nothing is not told of."""

    kind = "histogram"

    def __init__(self, name: str, help: str, *labels: str) -> None:
        super().__init__(name, help, *labels)
        self._found: list[tuple[tuple[str, ...], Distribution]] = []

    def add(self, found: Distribution, *values: str) -> None:
        if found.seen:
            self._found.append((values, found))

    def samples(self) -> Iterator[Sample]:
        named = [(self._named(values), found) for values, found in self._found]
        for labels, found in sorted(named, key=_by_labels):
            yield from found.samples(labels)
