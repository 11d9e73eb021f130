"""Spans as the debug endpoint sends them, for tests of what is drawn from them."""

from __future__ import annotations

from itertools import count
from typing import Any

from engine.trace.span import Hop

_sequences = count(1)
KUBECTL = "kubernetes-admin"


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
        "sequence": next(_sequences),
    } | rest


def request(
    name: str,
    *,
    user: str = KUBECTL,
    parent: str = "",
    verb: str = "create",
    object: str = "pod/default/web",
    start: float = 0.0,
    revision: int = 31,
    trace: str = "t1",
    agent: str = "kubectl/v1.37",
    hops: tuple[int, ...] = (2, 3, 4, 5, 6, 7),
) -> list[dict[str, Any]]:
    """The links of one request, 3 ms each, in their order."""
    details: dict[int, dict[str, Any]] = {
        2: {"user": user, "authenticator": "x509", "userAgent": agent},
        3: {"authorizer": "RBAC", "verdict": "allow"},
        4: {"plugins": [{"name": "A", "verdict": "passed"}] * 4},
        6: {"plugins": [{"name": "B", "verdict": "accepted"}] * 2},
        7: {"key": "/registry/x"},
    }
    return [
        span(
            f"{name}{hop}",
            hop,
            parent=parent,
            verb=verb,
            object=object,
            component="etcd" if hop == 7 else "kube-apiserver",
            start=start + 0.003 * index,
            detail=details.get(hop, {}),
            revision=revision if hop == 7 else 0,
            trace=trace,
        )
        for index, hop in enumerate(hops)
    ]
