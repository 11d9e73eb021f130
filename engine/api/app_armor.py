"""AppArmor profiles named by annotations, as before the field for them (KEP-24, version skew).

What an annotation says of a container becomes its field when the Pod is created (pkg/registry/core/pod strategy.go,
applyAppArmorVersionSkew); who writes one without the field is warned.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.types import Object

ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
DEPRECATED = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_LOCALHOST = "localhost/"
_LONGEST = 4095
_TYPES = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}


def sync_profiles(pod: Object) -> None:
    for container, profile in _to_sync(pod):
        if profile is not None:
            container.setdefault("securityContext", {})["appArmorProfile"] = profile


def profile_warnings(pod: Object) -> list[str]:
    """To be asked for before `sync_profiles`."""
    return [f"metadata.annotations[{ANNOTATION}{container['name']}]: {DEPRECATED}" for container, _ in _to_sync(pod)]


def _to_sync(pod: Object) -> Iterator[tuple[Object, Object | None]]:
    """Containers with an annotation and no field that says it, and what the field would be; None for what it cannot."""
    spec, annotations = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    if not annotations or (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(field) or ():
            text = annotations.get(f"{ANNOTATION}{container.get('name', '')}")
            if text is None or (container.get("securityContext") or {}).get("appArmorProfile") is not None:
                continue
            profile = _profile(text)
            if profile is None or profile != of_pod:
                yield container, profile


def _profile(text: str) -> Object | None:
    if text in _TYPES:
        return {"type": _TYPES[text]}
    name = text.removeprefix(_LOCALHOST)
    if name == text or not name or name != name.strip() or len(name) > _LONGEST:
        return None
    return {"type": "Localhost", "localhostProfile": name}
