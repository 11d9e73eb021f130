"""Which authorizers are asked, and in which order (--authorization-mode; pkg/kubeapiserver/options
authorization.go)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.golang.text import quoted

MODES = ("AlwaysAllow", "AlwaysDeny", "Node", "RBAC")


def mode_errors(modes: Sequence[str]) -> list[str]:
    """What kube-apiserver would not start with; ABAC and webhooks are none that there are here."""
    if not modes:
        return ["at least one authorization-mode must be passed"]
    found = [f'authorization-mode "{mode}" is not a valid mode' for mode in modes if mode not in MODES]
    if len(set(modes)) != len(modes):
        found.append(f"authorization-mode [{' '.join(map(quoted, modes))}] has mode specified more than once")
    return found
