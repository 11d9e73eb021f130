"""Ports that probes and handlers name, by number or by name (probe/util.go ResolveContainerPort)."""

from __future__ import annotations

from engine.api.types import Object


def resolve_port(port: int | str, container: Object) -> int:
    """The number of a port; 0 for a name that the container does not have."""
    if isinstance(port, int):
        return port
    for declared in container.get("ports") or ():
        if declared.get("name") == port:
            return int(declared["containerPort"])
    return int(port) if port.isdigit() else 0
