"""Requests put together from their links.

Spans are told when they end, and those of requests that run at once come interleaved: this finds the request that each
link of the chain (hops 2 to 7) belongs to. The links of one request have the same parent, verb and kind, follow one
another in hop and begin where the one before ended.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ktui.models.words import CLIENT, READS, kind_of, requester

Span = dict[str, Any]
OPEN_MOST = 2_000
FIRST_LINK, LAST_LINK = 2, 7


def seconds(stamp: str) -> float:
    """A span's start as a number."""
    return datetime.fromisoformat(stamp).timestamp()


def started(span: Span) -> float:
    return seconds(span["start"])


def ended(span: Span) -> float:
    return started(span) + (float(span["wall_ms"]) + float(span["model_ms"])) / 1000


def is_dry_run(links: Iterable[Span]) -> bool:
    """Whether a link of a request's chain, the mutating admission, tells that it was one."""
    return any(link["detail"].get("dryRun") for link in links)


@dataclass(slots=True)
class Exchange:
    """One request, as far as its links have come."""

    parent: str
    verb: str
    object: str
    trace_id: str
    at: float
    user: str = ""
    agent: str = ""
    links: list[Span] = field(default_factory=list)

    @property
    def last(self) -> Span:
        return self.links[-1]

    @property
    def outcome(self) -> str:
        return str(self.last["outcome"])

    @property
    def is_read(self) -> bool:
        return self.verb in READS

    @property
    def is_binding(self) -> bool:
        """Whether it puts a Pod on a node."""
        return self.subresource == "binding"

    @property
    def subresource(self) -> str:
        return str(self.links[0]["detail"].get("subresource", "")) if self.links else ""

    @property
    def is_dry_run(self) -> bool:
        """Whether it was only to be tried: nothing of it is stored."""
        return is_dry_run(self.links)

    @property
    def is_over(self) -> bool:
        hop = self.last["hop"]
        return hop == LAST_LINK or self.outcome != "ok" or (self.is_read and hop >= 3)

    @property
    def source(self) -> int:
        """The lane that it came from."""
        return requester(self.user)[0] if self.user else CLIENT

    @property
    def who(self) -> str:
        return requester(self.user)[1] if self.user else ""

    def add(self, span: Span) -> None:
        self.links.append(span)
        if len(span["object"]) > len(self.object):
            self.object = span["object"]  # a name that was generated is known from the admission on

    def takes(self, span: Span) -> bool:
        """Whether `span` can be the next link."""
        mine, its = self.object, span["object"]
        return self.last["hop"] < span["hop"] and (
            mine == its or its.startswith(f"{mine}/") or mine.startswith(f"{its}/")
        )


class Exchanges:
    """The requests that are under way."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str, str], list[Exchange]] = OrderedDict()

    def add(self, span: Span) -> tuple[Exchange, bool]:
        """The request that a link belongs to, and whether the link is the first of it."""
        key = (span["parent"], span["verb"], kind_of(span["object"]))
        waiting = self._open.setdefault(key, [])
        exchange = self._find(waiting, span) if span["hop"] != FIRST_LINK else None
        is_new = exchange is None
        if exchange is None:
            exchange = _begin(span)
            waiting.append(exchange)
        exchange.add(span)
        if exchange.is_over:
            waiting.remove(exchange)
        if not waiting:
            del self._open[key]
        elif len(self._open) > OPEN_MOST:
            self._open.popitem(last=False)
        return exchange, is_new

    @staticmethod
    def _find(waiting: list[Exchange], span: Span) -> Exchange | None:
        at = started(span)
        fitting = [exchange for exchange in waiting if exchange.takes(span)]
        return min(fitting, key=lambda exchange: abs(at - ended(exchange.last)), default=None)


def _begin(span: Span) -> Exchange:
    detail = span["detail"]
    return Exchange(
        span["parent"],
        span["verb"],
        span["object"],
        span["traceId"],
        started(span),
        user=detail.get("user", ""),
        agent=detail.get("userAgent", ""),
    )
