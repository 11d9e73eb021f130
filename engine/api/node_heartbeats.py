"""How long a Node may be silent, by the version of Kubernetes (kube-controller-manager's --node-monitor-grace-period).

Raised in 1.32 above HTTP/2's time-outs.
"""

from __future__ import annotations


def monitor_grace_period(version: str) -> float:
    """Seconds without a sign of life after which a Node of `1.37`, or `v1.37.1`, is held to be gone."""
    major, minor = version.removeprefix("v").split(".")[:2]
    return 50.0 if (int(major), int(minor)) >= (1, 32) else 40.0
