"""ResourceClaims that the claim controller would make for a Pod from templates (pkg/controller/resourceclaim)."""

from __future__ import annotations

from itertools import count

from engine.api.types import Object, copy_object
from engine.scheduler.plugins.resource_claims import RESOURCE_CLAIMS, is_for
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.whatif.cluster import RESOURCE_CLAIM_TEMPLATES, ClusterObjects

_ENTRY = "resource.kubernetes.io/pod-claim-name"


def with_device_claims(pod: Object, cluster: ClusterObjects) -> tuple[Object, str]:
    """The Pod with all its claims made, and what keeps one from being made."""
    statuses: list[Object] = list((pod.get("status") or {}).get("resourceClaimStatuses") or ())
    known, namespace = {status["name"] for status in statuses}, pod["metadata"]["namespace"]
    made = []
    for entry in pod["spec"].get("resourceClaims") or ():
        template_name = entry.get("resourceClaimTemplateName")
        if not template_name or entry["name"] in known:
            continue
        template = cluster.lister(RESOURCE_CLAIM_TEMPLATES).get(template_name, namespace)
        if template is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
            return pod, f'resource claim template "{template_name}": {missing}'
        name = _add_claim(pod, entry["name"], template, cluster)
        made.append({"name": entry["name"], "resourceClaimName": name})
    if not made:
        return pod, ""
    return {**pod, "status": {**(pod.get("status") or {}), "resourceClaimStatuses": [*statuses, *made]}}, ""


def _add_claim(pod: Object, entry: str, template: Object, cluster: ClusterObjects) -> str:
    """The name of the claim that is made: one that none has yet."""
    metadata, wanted = pod["metadata"], copy_object(template["spec"])
    namespace, given = metadata["namespace"], wanted.get("metadata") or {}
    claims, base = cluster.lister(RESOURCE_CLAIMS), f"{metadata['name']}-{entry}"
    name = next(name for number in count(1) if claims.get(name := f"{base}-{number}", namespace) is None)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
    made: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"resourceclaim/{namespace}/{name}",
        "annotations": {**(given.get("annotations") or {}), _ENTRY: entry},
        "labels": given.get("labels") or {},
        "ownerReferences": [owner],
    }
    api, spec = RESOURCE_CLAIMS.api_version, wanted.get("spec") or {}
    cluster.add({"apiVersion": api, "kind": "ResourceClaim", "metadata": made, "spec": spec})
    return name


def drop_device_claims(pod: PodInfo, cluster: ClusterObjects) -> None:
    """The claims that were made for a Pod go with it, and free their devices."""
    for claim in cluster.lister(RESOURCE_CLAIMS).list(pod.namespace) if pod.spec.get("resourceClaims") else ():
        if is_for(claim, pod):
            cluster.remove({"apiVersion": RESOURCE_CLAIMS.api_version, "kind": "ResourceClaim", **claim})
