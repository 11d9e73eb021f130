"""A page of metrics in Prometheus' text format, cut down to what a screen plots: sums, and histograms for quantiles."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

_LE = re.compile(r'[{,]le="([^"]+)"')  # not the end of another label, such as profile
LONG_RUNNING = ('verb="WATCH"', 'verb="CONNECT"')  # last as long as somebody looks


@dataclass(slots=True)
class Page:
    """`totals`: each metric's sum over its labels. `buckets`: each histogram's counts up to a bound, likewise."""

    totals: dict[str, float] = field(default_factory=dict)
    buckets: dict[str, dict[float, float]] = field(default_factory=dict)


def read(text: str, *, totals: Collection[str], histograms: Collection[str]) -> Page:
    """Only what is asked for: a page has thousands of lines."""
    page = Page()
    counted = {f"{name}_bucket": name for name in histograms}
    for line in text.splitlines():
        name = line.partition("{")[0] if "{" in line else line.partition(" ")[0]
        if name in totals:
            page.totals[name] = page.totals.get(name, 0.0) + float(line.rpartition(" ")[2])
        elif (histogram := counted.get(name)) is not None and not any(label in line for label in LONG_RUNNING):
            bound = _LE.search(line)
            if bound is not None:
                sums = page.buckets.setdefault(histogram, {})
                at = float(bound[1])
                sums[at] = sums.get(at, 0.0) + float(line.rpartition(" ")[2])
    return page


def since(now: Mapping[float, float], before: Mapping[float, float]) -> dict[float, float]:
    """What was counted between two pages."""
    return {bound: max(0.0, count - before.get(bound, 0.0)) for bound, count in now.items()}


def quantile(share: float, buckets: Mapping[float, float]) -> float:
    """As histogram_quantile: evenly spread within a bucket, the last bound where it lies beyond; 0 for nothing."""
    bounds = sorted(buckets)
    whole = buckets[bounds[-1]] if bounds else 0.0
    if not whole:
        return 0.0
    rank, low, counted = share * whole, 0.0, 0.0
    for bound in bounds:
        count = buckets[bound]
        if count >= rank:
            return low if bound == float("inf") else low + (bound - low) * (rank - counted) / (count - counted or 1)
        low, counted = bound, count
    return low
