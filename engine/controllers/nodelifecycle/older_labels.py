"""The labels of operating system and architecture under their older names, which follow those of now: pure
(reconcileNodeLabels in node_lifecycle_controller.go)."""

from __future__ import annotations

from engine.api.types import Object

_OLDER = {"kubernetes.io/os": "beta.kubernetes.io/os", "kubernetes.io/arch": "beta.kubernetes.io/arch"}


def older_labels(node: Object) -> dict[str, str]:
    """Those that the Node lacks, or has with another value."""
    labels = node["metadata"].get("labels") or {}
    wanted = {older: labels[name] for name, older in _OLDER.items() if name in labels}
    return {older: value for older, value in wanted.items() if labels.get(older) != value}
