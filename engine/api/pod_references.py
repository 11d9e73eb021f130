"""The objects that a Pod names: Secrets, ConfigMaps, claims of volumes and of devices.

Source: pkg/api/v1/pod util.go (VisitPodSecretNames, VisitPodConfigmapNames), component-helpers storage/ephemeral.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.types import Object

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
# Volume sources with a reference to a Secret, and the field that it stands in.
_VOLUME_SECRETS = {
    "cephfs": "secretRef",
    "cinder": "secretRef",
    "csi": "nodePublishSecretRef",
    "flexVolume": "secretRef",
    "iscsi": "secretRef",
    "rbd": "secretRef",
    "scaleIO": "secretRef",
    "storageos": "secretRef",
}


def secrets_of(pod: Object) -> set[str]:
    spec = pod.get("spec") or {}
    names = {each.get("name") for each in spec.get("imagePullSecrets") or ()}
    names.update(_in_environment(spec, "secretRef", "secretKeyRef"))
    for volume in spec.get("volumes") or ():
        names.add((volume.get("azureFile") or {}).get("secretName"))
        names.add((volume.get("secret") or {}).get("secretName"))
        names.update(((volume.get(kind) or {}).get(field) or {}).get("name") for kind, field in _VOLUME_SECRETS.items())
    names.update(_projected(spec, "secret"))
    return {name for name in names if name}


def config_maps_of(pod: Object) -> set[str]:
    spec = pod.get("spec") or {}
    names = set(_in_environment(spec, "configMapRef", "configMapKeyRef"))
    names.update((volume.get("configMap") or {}).get("name") for volume in spec.get("volumes") or ())
    names.update(_projected(spec, "configMap"))
    return {name for name in names if name}


def claims_of(pod: Object) -> set[str]:
    """Also those that are made for its ephemeral volumes."""
    names = set()
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        if "ephemeral" in volume:
            names.add(f"{pod['metadata'].get('name', '')}-{volume.get('name', '')}")
        names.add((volume.get("persistentVolumeClaim") or {}).get("claimName") or "")
    return {name for name in names if name}


def resource_claims_of(pod: Object) -> set[str]:
    """Claims of devices that are named, and those that were made for it, which the Pod's status tells."""
    named = {each.get("resourceClaimName") for each in pod["spec"].get("resourceClaims") or ()}
    status = pod.get("status") or {}
    made = {each.get("resourceClaimName") for each in status.get("resourceClaimStatuses") or ()}
    extended = (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    return {name for name in (*named, *made, extended) if name}


def _in_environment(spec: Object, whole: str, key: str) -> Iterator[str | None]:
    for field in _CONTAINERS:
        for container in spec.get(field) or ():
            for source in container.get("envFrom") or ():
                yield (source.get(whole) or {}).get("name")
            for variable in container.get("env") or ():
                yield ((variable.get("valueFrom") or {}).get(key) or {}).get("name")


def _projected(spec: Object, kind: str) -> Iterator[str | None]:
    for source in _sources(spec):
        yield (source.get(kind) or {}).get("name")


def _sources(spec: Object) -> Iterator[Object]:
    for volume in spec.get("volumes") or ():
        yield from (volume.get("projected") or {}).get("sources") or ()
