"""Spans as the debug endpoint sends them, for tests of what is drawn from them."""

from __future__ import annotations

from typing import Any

from engine.trace.span import Hop


def span(
    id: str,
    hop: int,
    *,
    parent: str = "",
    verb: str = "create",
    object: str = "pod/default/web",
    component: str = "kubectl",
    trace: str = "t1",
    start: float = 0.0,
    **rest: Any,
) -> dict[str, Any]:
    """One span; `start` in seconds after noon."""
    return {
        "id": id,
        "traceId": trace,
        "parent": parent,
        "hop": hop,
        "lane": str(Hop(hop).lane),
        "component": component,
        "verb": verb,
        "object": object,
        "revision": 0,
        "wokenBy": [],
        "start": f"2026-01-01T12:00:{start:09.6f}Z",
        "wall_ms": 1.0,
        "model_ms": 2.0,
        "outcome": "ok",
        "detail": {},
        "sequence": hop,
    } | rest
