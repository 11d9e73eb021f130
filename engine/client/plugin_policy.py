"""Which credential plugins may run, by the preferences in kuberc (client-go util/pluginpolicy)."""

from __future__ import annotations

import os
import shutil

from engine.api.golang.text import quoted
from engine.client.connection import KubeConfigError

ALLOW_ALL, DENY_ALL, ALLOWLIST = "AllowAll", "DenyAll", "Allowlist"


def refuse(command: str, policy: str, allowed: tuple[str, ...]) -> None:
    """Raises KubeConfigError for a plugin that may not run."""
    if policy == DENY_ALL:
        raise KubeConfigError(f'plugin {quoted(command)} not allowed: policy set to "DenyAll"')
    if policy != ALLOWLIST:
        return
    path = shutil.which(command)
    if path is None:
        why = (
            f"stat {command}: no such file or directory" if os.sep in command else "executable file not found in $PATH"
        )
        raise KubeConfigError(
            f"plugin path {quoted(command)} cannot be resolved for credential plugin allowlist check: "
            f"exec: {quoted(command)}: {why}"
        )
    if command not in allowed and path not in map(shutil.which, allowed):
        raise KubeConfigError(f"plugin path {quoted(command)} is not permitted by the credential plugin allowlist")


def policy_problem(policy: str, allowed: tuple[str, ...] | None) -> str:
    """Why a policy cannot be gone by; "" if it can."""
    if policy not in ("", ALLOW_ALL, DENY_ALL, ALLOWLIST):
        return f"unknown plugin policy: {quoted(policy)}"
    if policy != ALLOWLIST:
        if allowed is None:
            return ""
        shown = quoted(policy)
        return f"misconfigured credential plugin allowlist: plugin policy is {shown} but allowlist is non-nil"
    if allowed is None:
        return 'credential plugin policy set to "Allowlist", but allowlist is unspecified'
    if not allowed:
        return 'credential plugin policy set to "Allowlist", but allowlist is empty; use "DenyAll" policy instead'
    return next(filter(None, (_entry_problem(number, entry) for number, entry in enumerate(allowed, 1))), "")


def _entry_problem(number: int, entry: str) -> str:
    if not entry:
        return f"misconfigured credential plugin allowlist: empty allowlist entry #{number}"
    clean = os.path.normpath(entry)
    return "" if clean == entry else f"non-normalized file path: {quoted(entry)} vs {quoted(clean)}"
