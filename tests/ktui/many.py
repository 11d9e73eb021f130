"""Ten thousand Pods as the API server's table, and changes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MANY = 10_000
COLUMNS = ("Name", "Ready", "Status", "Restarts", "Age", "IP", "Node")
WIDE = frozenset({"IP", "Node"})
STATES = (("1/1", "Running"),) * 7 + (("0/1", "ContainerCreating"), ("0/1", "Pending"), ("0/1", "CrashLoopBackOff"))


def pods(count: int = MANY) -> dict[str, Any]:
    """The whole list."""
    columns = [{"name": name, "type": "string", "priority": int(name in WIDE)} for name in COLUMNS]
    rows = [_row(number, *STATES[number // 3 % len(STATES)]) for number in range(count)]
    return {"columnDefinitions": columns, "rows": rows, "metadata": {"resourceVersion": "200000"}}


def pods_changed(count: int = MANY) -> Iterator[dict[str, Any]]:
    """One row after another, each in another state than before; it never ends."""
    turn = 0
    while True:
        turn += 1
        for number in range(count):
            yield {"rows": [_row(number, *STATES[(number // 3 + turn) % len(STATES)])]}


def _row(number: int, ready: str, status: str) -> dict[str, Any]:
    name = f"web-{number % 10}-7d8d2f4c{number % 10}-{number:05}"
    metadata = {
        "name": name, "namespace": "default", "creationTimestamp": f"2026-01-01T00:0{number % 10}:00Z",
        "labels": {"app": f"web-{number % 10}"},
    }  # fmt: skip
    cells = [name, ready, status, number % 3, "5m", f"10.244.{number // 250}.{number % 250}", f"node-{number % 1000}"]
    return {"cells": cells, "object": {"metadata": metadata}}
