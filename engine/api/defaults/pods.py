"""Defaults of Pods, their containers, probes and volumes (pkg/apis/core/v1/defaults.go)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.api.defaults.fields import fill
from engine.api.quantity import Quantity
from engine.api.types import Object

_FILE_MODE = 0o644
# What distribution/reference takes for the name of an image: domain, path, tag and digest.
_PART = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN = rf"(?:{_PART}(?:\.{_PART})*|\[[a-fA-F0-9:]+\])"
_PATH = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:{_DOMAIN}(?::[0-9]+)?/)?{_PATH}(?:/{_PATH})*(?::\w[\w.-]{{0,127}})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_IDENTIFIER = re.compile("[a-f0-9]{64}")
_LONGEST_PATH, _OFFICIAL = 255, "library/"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE_NUMBERS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_MILLI = -3
# Resources that a Pod as a whole may ask for (component-helpers IsSupportedPodLevelResource).
_POD_LEVEL = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"


def pod_spec(spec: Object) -> None:
    """What any Pod spec gets, in a Pod as in a template."""
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    mirror_service_account(spec)
    for volume in spec.get("volumes", ()):
        _volume(volume)
    for container in _containers(spec):
        _container(container)
    if "overhead" in spec:
        round_resource_list(spec["overhead"])
    if "resources" in spec:
        _resources(spec["resources"])


def pod_only(spec: Object) -> None:
    """What a Pod gets but a template does not, so that the template stays as it was written."""
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        _requests_from_limits(container)
    _pod_level_resources(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
            for port in container.get("ports", ()):
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]


def pod_status(status: Object) -> None:
    _told_resources(status)
    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(field, ()):
            _told_resources(container)


def mirror_service_account(spec: Object) -> None:
    """`serviceAccount` is the old name of `serviceAccountName` and always says the same."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _containers(spec: Object) -> Iterator[Object]:
    for field in ("containers", "initContainers", "ephemeralContainers"):
        yield from spec.get(field, ())


def _container(container: Object) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = _pull_policy(container.get("image", ""))
    for port in container.get("ports", ()):
        port.setdefault("protocol", "TCP")
    for variable in container.get("env", ()):
        _field_ref(variable.get("valueFrom"))
    _resources(container["resources"])
    for name in _PROBES:
        if name in container:
            _probe(container[name])
    for hook in container.get("lifecycle", {}).values():
        if isinstance(hook, dict) and "httpGet" in hook:
            _http_get(hook["httpGet"])


def _pull_policy(image: str) -> str:
    return "Always" if image_tag(image) == "latest" else "IfNotPresent"


def image_tag(image: str) -> str:
    """The tag of an image reference: `latest` if it has neither tag nor digest (pkg/util/parsers ParseImageName).

    What is no reference has no tag."""
    if not _REFERENCE.fullmatch(image) or _IDENTIFIER.fullmatch(image):
        return ""
    name, _, digest = image.partition("@")
    last = name.rpartition("/")[2]
    _, colon, tag = last.partition(":")
    if len(_path(name.removesuffix(f":{tag}") if colon else name)) > _LONGEST_PATH:
        return ""
    if colon:
        return tag
    return "" if digest else "latest"


def _path(name: str) -> str:
    """What follows the domain in the name of an image (distribution/reference, splitDockerDomain)."""
    domain, slash, rest = name.partition("/")
    if slash and (domain == "localhost" or any(mark in domain for mark in ".:") or domain != domain.lower()):
        return rest
    return name if slash else f"{_OFFICIAL}{name}"


def _probe(probe: Object) -> None:
    for name, value in _PROBE_NUMBERS.items():
        probe.setdefault(name, value)
    if "httpGet" in probe:
        _http_get(probe["httpGet"])
    if "grpc" in probe:
        probe["grpc"].setdefault("service", "")


def _http_get(action: Object) -> None:
    if not action.get("path"):
        action["path"] = "/"
    if not action.get("scheme"):
        action["scheme"] = "HTTP"


def _field_ref(source: Object | None) -> None:
    if source and "fieldRef" in source and not source["fieldRef"].get("apiVersion"):
        source["fieldRef"]["apiVersion"] = "v1"
    if source and "resourceFieldRef" in source:
        source["resourceFieldRef"].setdefault("divisor", "0")  # a Quantity is a struct, which Go writes in any case


def _resources(resources: Object) -> None:
    for field in ("limits", "requests"):
        if field in resources:
            round_resource_list(resources[field])


def _told_resources(status: Object) -> None:
    if "allocatedResources" in status:
        round_resource_list(status["allocatedResources"])
    if "resources" in status:
        _resources(status["resources"])


def round_resource_list(resources: Object) -> None:
    """Amounts are kept in thousandths, rounded up."""
    for name, amount in resources.items():
        if amount[-1:] in ("n", "u") or "e-" in amount or "." in amount[:-1]:
            resources[name] = str(Quantity.parse(amount).rounded_up(_MILLI))


def _requests_from_limits(container: Object) -> None:
    resources = container.get("resources") or {}
    limits = resources.get("limits")
    if limits:
        requests = resources.setdefault("requests", {})
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def _pod_level_resources(spec: Object) -> None:
    """What a Pod with resources of its own does not say of them: huge pages as its containers' limits, what they ask
    for together, or else its own limits (defaultHugePagePodLimits and defaultPodRequests, KEP-2837)."""
    resources = spec.get("resources") or {}
    limits, requests = dict(resources.get("limits") or {}), dict(resources.get("requests") or {})
    if not limits and not requests:
        return
    for name in _resource_names(spec, "limits"):
        if name.startswith(_HUGE_PAGES) and name not in limits and name not in requests:
            limits[name] = _of_containers(spec, "limits", name)
    if limits:
        for name in _resource_names(spec, "requests"):
            if name in _POD_LEVEL and name not in requests:
                requests[name] = _of_containers(spec, "requests", name)
        for name, limit in limits.items():
            if (name in _POD_LEVEL or name.startswith(_HUGE_PAGES)) and name not in requests:
                requests[name] = limit
        resources["limits"] = limits
    if requests:
        resources["requests"] = requests


def pod_level_limits(spec: Object) -> None:
    """A Pod that says what it asks for as a whole, but not how much it may have, may have what its containers may
    together, where all of them say so (defaultPodLimits, since 1.37)."""
    resources = spec.get("resources") or {}
    limits, requests = dict(resources.get("limits") or {}), resources.get("requests") or {}
    if _of_pod(limits) or not _of_pod(requests):
        return
    containers = (*spec.get("containers", ()), *spec.get("initContainers", ()))
    for name in _POD_LEVEL:
        if all(name in container.get("resources", {}).get("limits", {}) for container in containers):
            limits[name] = _of_containers(spec, "limits", name)
    if limits:
        resources["limits"] = limits


def _of_pod(amounts: Object) -> bool:
    """Whether some are of what a Pod has as a whole."""
    return any(name in _POD_LEVEL or name.startswith(_HUGE_PAGES) for name in amounts)


def _resource_names(spec: Object, field: str) -> list[str]:
    """The resources that some container names, in order."""
    containers = (*spec.get("containers", ()), *spec.get("initContainers", ()))
    return sorted({name for container in containers for name in container.get("resources", {}).get(field, ())})


def _of_containers(spec: Object, field: str, resource: str) -> str:
    """What the containers have together; an init container that does not stay counts only if it is the greatest."""
    staying, peak = Quantity(), Quantity()
    for container in spec.get("initContainers", ()):
        amount = Quantity.parse(container.get("resources", {}).get(field, {}).get(resource, "0"))
        if container.get("restartPolicy") == "Always":
            staying = staying + amount
            peak = max(peak, staying)
        else:
            peak = max(peak, staying + amount)
    for container in spec.get("containers", ()):
        staying = staying + Quantity.parse(container.get("resources", {}).get(field, {}).get(resource, "0"))
    return str(max(staying, peak))


# -- volumes


def _volume(volume: Object) -> None:
    if not volume.keys() - {"name"}:
        volume["emptyDir"] = {}
    for source, value in volume.items():
        if isinstance(value, dict):
            volume_source(source, value)
    if "image" in volume and not volume["image"].get("pullPolicy"):
        volume["image"]["pullPolicy"] = _pull_policy(volume["image"].get("reference", ""))


def volume_source(source: str, value: Object) -> None:
    """Of a Pod's volume and of a PersistentVolume alike; `source` is the field's name."""
    match source:
        case "secret" | "configMap" | "downwardAPI" | "projected":
            value.setdefault("defaultMode", _FILE_MODE)
            _projections(value.get("sources", ()))
            for item in value.get("items", ()):
                _field_ref(item)
        case "hostPath":
            value.setdefault("type", "")
        case "iscsi":
            fill(value, "iscsiInterface", "default")
        case "rbd":
            for name, text in {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}.items():
                fill(value, name, text)
        case "azureDisk":
            azure = {"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": False}
            for name, setting in azure.items():
                value.setdefault(name, setting)
        case "scaleIO":
            fill(value, "storageMode", "ThinProvisioned")
            fill(value, "fsType", "xfs")
        case "ephemeral":
            made = value.get("volumeClaimTemplate", {})
            made.setdefault("metadata", {})
            claim = made.get("spec", {})
            claim.setdefault("volumeMode", "Filesystem")
            _resources(claim.get("resources", {}))


def _projections(sources: list[Object]) -> None:
    for source in sources:
        if "serviceAccountToken" in source:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
        for item in source.get("downwardAPI", {}).get("items", ()):
            _field_ref(item)
