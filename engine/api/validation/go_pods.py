"""Pods and what they are made from as field errors show them: the internal types have no JSON tags."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.go_structs import in_order, struct_shown

_OF_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences", "finalizers")
_CLAIM_STATUS = "PersistentVolumeClaimStatus"


def pod_template(template: Object) -> Object:
    return {**embedded_metadata(template), "Spec": pod_spec(template.get("spec", {}))}


def claim_template(claim: Object) -> Object:
    """Of a StatefulSet. Its kind is not kept in the internal type."""
    spec = struct_shown(claim.get("spec", {}), "PersistentVolumeClaimSpec")
    return {**embedded_metadata(claim), "Spec": spec, "Status": struct_shown(claim.get("status", {}), _CLAIM_STATUS)}


def embedded_metadata(embedded: Object) -> Object:
    """Metadata has tags, unlike a spec, and is embedded."""
    given = embedded.get("metadata", {})
    return {name: in_order(given[name]) for name in _OF_METADATA if given.get(name)}


def pod_spec(spec: Object) -> Object:
    return struct_shown(spec, "PodSpec")
