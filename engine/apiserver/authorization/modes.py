"""Which authorizers are asked, and in which order (--authorization-mode; pkg/kubeapiserver/options
authorization.go)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.golang.text import quoted

MODES = ("ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook")


def mode_errors(modes: Sequence[str], *, policy_file: str = "", webhook: str = "") -> list[str]:
    """What kube-apiserver would not start with; the files are those of ABAC and of the webhook."""
    if not modes:
        return ["at least one authorization-mode must be passed"]
    found = []
    for mode in modes:
        if mode not in MODES:
            found.append(f'authorization-mode "{mode}" is not a valid mode')
        if mode == "ABAC" and not policy_file:
            found.append("authorization-mode ABAC's authorization policy file not passed")
        if mode == "Webhook" and not webhook:
            found.append("authorization-mode Webhook's authorization config file not passed")
    if policy_file and "ABAC" not in modes:
        found.append("cannot specify --authorization-policy-file without mode ABAC")
    if webhook and "Webhook" not in modes:
        found.append("cannot specify --authorization-webhook-config-file without mode Webhook")
    if len(set(modes)) != len(modes):
        found.append(f"authorization-mode [{' '.join(map(quoted, modes))}] has mode specified more than once")
    return found
