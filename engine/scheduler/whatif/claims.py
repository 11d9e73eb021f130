"""Claims that the volume controller would have bound before the scheduler looks (volumeBindingMode Immediate)."""

from __future__ import annotations

from engine.api.default_class import default_storage_class
from engine.api.persistent_volumes import (
    BETA_CLASS,
    BIND_COMPLETED,
    CLAIMS,
    NO_PROVISIONER,
    STORAGE_CLASSES,
    VOLUMES,
    WAIT_FOR_FIRST_CONSUMER,
    class_of,
)
from engine.api.types import Object, copy_object
from engine.scheduler.plugins.claims import annotations_of, bound_volume, candidate_volumes, claim_names
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.whatif.cluster import ClusterObjects
from engine.scheduler.whatif.workloads import add_claim


def settle_claims(pod: Object, cluster: ClusterObjects) -> None:
    """Make the claims of the Pod's ephemeral volumes, and bind those that do not wait for their first Pod: to the
    smallest volume that will do, else to one that the class's provisioner makes."""
    info = PodInfo(pod)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": info.name, "uid": info.uid, "controller": True}
    for volume in info.spec.get("volumes") or ():
        if template := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
            name = f"{info.name}-{volume['name']}"
            add_claim(cluster, name, namespace=info.namespace, spec=template.get("spec") or {}, owner=owner)
    for name, _ in claim_names(info):
        claim = cluster.lister(CLAIMS).get(name, info.namespace)
        if claim is not None and not bound_volume(claim):
            _settle(_with_class(claim, cluster), cluster)


def _with_class(claim: Object, cluster: ClusterObjects) -> Object:
    """The claim with the class that is the default for those without one: admission sets it (DefaultStorageClass), the
    volume controller where there was no default at that time."""
    spec = claim.get("spec") or {}
    if spec.get("storageClassName") is not None or BETA_CLASS in annotations_of(claim):
        return claim
    default = default_storage_class(cluster.lister(STORAGE_CLASSES).list())
    if default is None:
        return claim
    claim = {**claim, "spec": {**spec, "storageClassName": default["metadata"]["name"]}}
    cluster.add({"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim})
    return claim


def _settle(claim: Object, cluster: ClusterObjects) -> None:
    found = cluster.lister(STORAGE_CLASSES).get(class_of(claim)) if class_of(claim) else None
    if found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER:
        return
    free = candidate_volumes(claim, cluster.lister(VOLUMES).list())
    if free:
        _bind(claim, free[0], cluster)
    elif found is not None and found.get("provisioner") not in (None, "", NO_PROVISIONER):
        _bind(claim, _provisioned(claim, found), cluster)


def _provisioned(claim: Object, storage_class: Object) -> Object:
    """A volume as an external provisioner makes one; where it can be reached from is not known, so: from everywhere."""
    metadata, spec = claim["metadata"], claim.get("spec") or {}
    handle = f"pvc-{metadata.get('uid') or metadata['name']}"
    name = handle.replace("/", "-")
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": ((spec.get("resources") or {}).get("requests") or {}).get("storage", "1Gi")},
            "accessModes": spec.get("accessModes") or [],
            "storageClassName": class_of(claim),
            "volumeMode": spec.get("volumeMode") or "Filesystem",
            "csi": {"driver": storage_class["provisioner"], "volumeHandle": handle},
        },
        "status": {"phase": "Available"},
    }


def _bind(claim: Object, volume: Object, cluster: ClusterObjects) -> None:
    claim, volume = copy_object(claim), copy_object(volume)
    metadata = claim["metadata"]
    claim.setdefault("spec", {})["volumeName"] = volume["metadata"]["name"]
    metadata.setdefault("annotations", {})[BIND_COMPLETED] = "yes"
    claim["status"] = {**(claim.get("status") or {}), "phase": "Bound"}
    reference = {"namespace": metadata.get("namespace", ""), "name": metadata["name"], "uid": metadata.get("uid", "")}
    volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", **reference}
    volume["status"] = {**(volume.get("status") or {}), "phase": "Bound"}
    cluster.add(claim)
    cluster.add(volume)
