"""What the author of a Pod or of a Pod template is warned of (pkg/api/pod/warnings.go).

`path` leads to the Pod or template and ends with a dot, or is empty for a Pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.api import app_armor
from engine.api.types import Object
from engine.api.warnings import nodes
from engine.api.warnings.addresses import ip_warnings
from engine.api.warnings.pod_ports import name_warnings, port_warnings
from engine.api.warnings.pod_volumes import volume_warnings
from engine.api.warnings.storage import fractional

_BYTES = ("memory", "ephemeral-storage")
_SYSCTLS = 'non-functional in v1.11+; use the "sysctls" field instead'
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": _SYSCTLS,
    "security.alpha.kubernetes.io/unsafe-sysctls": _SYSCTLS,
}
_POD_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP_TEXT = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_NO_SELECTOR = "a null labelSelector results in matching no pod"
_GRACE_TEXT = "must be >= 0; negative values are invalid and will be treated as 1"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod_warnings(pod: Object, path: str) -> list[str]:
    spec, at = pod.get("spec") or {}, f"{path}spec"
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    found = [*_placement(spec, at), *_annotations(annotations, path), *volume_warnings(spec.get("volumes") or (), at)]
    found += [*_duplicates(spec, at), *fractional(spec.get("overhead"), _BYTES, f"{at}.overhead")]
    security = spec.get("securityContext") or {}
    if _POD_SECCOMP in annotations and security.get("seccompProfile") is None:
        found.append(f"{path}metadata.annotations[{_POD_SECCOMP}]: {_SECCOMP_TEXT}")
    containers = list(_containers(spec, at))
    for container, place in containers:
        found += _profiles(container, annotations, path, pod_has_profile="appArmorProfile" in security or not path)
        found += _container(container, place)
    ports = [(place, container.get("ports") or ()) for container, place in containers]
    found += [*port_warnings(ports), *name_warnings(ports)]
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        found.append(f"{at}.terminationGracePeriodSeconds: {_GRACE_TEXT}")
    if affinity := spec.get("affinity"):
        found += _pod_affinity(affinity, f"{at}.affinity")
    return [*found, *_addresses(spec, at)]


def _containers(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield container, f"{path}.{field}[{index}]"


def _placement(spec: Object, path: str) -> Iterator[str]:
    if selector := spec.get("nodeSelector"):
        for label, text in nodes.DEPRECATED_LABELS.items():
            if label in selector:
                yield f"{path}.nodeSelector[{label}]: {text}"
    affinity, at = (spec.get("affinity") or {}).get("nodeAffinity") or {}, f"{path}.affinity.nodeAffinity"
    for index, term in enumerate((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        yield from nodes.expressions(term, f"{at}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, term in enumerate(affinity.get(_PREFERRED) or ()):
        preference = f"{at}.{_PREFERRED}[{index}].preference"
        yield from nodes.expressions(term.get("preference") or {}, preference, check_values=True)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        at, key = f"{path}.topologySpreadConstraints[{index}]", constraint.get("topologyKey", "")
        if key in nodes.DEPRECATED_LABELS:
            yield f"{at}.topologyKey: {key} is {nodes.DEPRECATED_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NO_SELECTOR}"


def _annotations(annotations: Mapping[str, str], path: str) -> list[str]:
    return [f"{path}metadata.annotations[{key}]: {text}" for key, text in _ANNOTATIONS.items() if key in annotations]


def _addresses(spec: Object, path: str) -> Iterator[str]:
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from ip_warnings(server, f"{path}.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        yield from ip_warnings(alias.get("ip", ""), f"{path}.hostAliases[{index}].ip")


def _duplicates(spec: Object, path: str) -> Iterator[str]:
    """Entries of a list that is merged by a key, with the same key."""
    for field, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        seen = set()
        for index, entry in enumerate(spec.get(field) or ()):
            value = entry.get(key, "")
            if value in seen:
                yield f'{path}.{field}[{index}].{key}: duplicate {key} "{value}"'
            seen.add(value)
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'


def _profiles(container: Object, annotations: Mapping[str, str], path: str, *, pod_has_profile: bool) -> Iterator[str]:
    """Annotations of old for what has a field by now; of a Pod's AppArmor, `app_armor.profile_warnings` tells."""
    name, security = container.get("name", ""), container.get("securityContext") or {}
    key = f"{_CONTAINER_SECCOMP}{name}"
    if key in annotations and security.get("seccompProfile") is None:
        yield f"{path}metadata.annotations[{key}]: {_SECCOMP_TEXT}"
    key = f"{app_armor.ANNOTATION}{name}"
    if key in annotations and not pod_has_profile and security.get("appArmorProfile") is None:
        yield f"{path}metadata.annotations[{key}]: {app_armor.DEPRECATED}"


def _container(container: Object, path: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in _BYTES:
        for field in ("limits", "requests"):
            yield from fractional(resources.get(field), (name,), f"{path}.resources.{field}")
    names = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name", "")
        if name in names and _hides(variable, f"$({name})"):
            yield f'{path}.env[{index}]: hides previous definition of "{name}", which may be dropped when using apply'
        names.add(name)


def _hides(variable: Object, reference: str) -> bool:
    """A variable that builds on its earlier value, `PATH=/opt:$(PATH)`, is meant so."""
    value = variable.get("value", "")
    return variable.get("valueFrom") is not None or value == reference or reference not in value


def _pod_affinity(affinity: Object, path: str) -> Iterator[str]:
    for side in ("podAffinity", "podAntiAffinity"):
        for field, inner in ((_REQUIRED, ""), (_PREFERRED, "podAffinityTerm")):
            for index, entry in enumerate((affinity.get(side) or {}).get(field) or ()):
                term = entry.get(inner) or {} if inner else entry
                if term.get("labelSelector") is None:
                    at = f".{inner}" if inner else ""
                    yield f"{path}.{side}.{field}[{index}]{at}.labelSelector: {_NO_SELECTOR}"
