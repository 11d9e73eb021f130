"""Whom a container may run as (kuberuntime/security_context.go verifyRunAsNonRoot)."""

from __future__ import annotations

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import Image
from engine.kubelet.kuberuntime.errors import ConfigError


def check_user(pod: Object, container: Object, image: Image) -> None:
    """Raises ConfigError where runAsNonRoot is asked for and root would run. Of an image that is not known, nobody can
    say whose processes it starts: it is let through."""
    effective = {**(pod["spec"].get("securityContext") or {}), **(container.get("securityContext") or {})}
    if not effective.get("runAsNonRoot"):
        return
    of = f'(pod: "{pods.full_name(pod)}", container: {container["name"]})'
    user = effective.get("runAsUser")
    if user == 0:
        raise ConfigError(f"container's runAsUser breaks non-root policy {of}")
    if user is None and image.uid == 0:
        raise ConfigError(f"container has runAsNonRoot and image will run as root {of}")
