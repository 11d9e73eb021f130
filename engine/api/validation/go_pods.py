"""Pods as field errors show them: the internal types have no JSON tags, and what is shared with the host elsewhere."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.go_structs import in_order, struct_shown

_OF_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences", "finalizers")
_OF_POD = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")


def pod_template(template: Object) -> Object:
    """Its metadata has tags, unlike its spec, and is embedded."""
    given = template.get("metadata", {})
    metadata = {name: in_order(given[name]) for name in _OF_METADATA if given.get(name)}
    return {**metadata, "Spec": pod_spec(template.get("spec", {}))}


def pod_spec(spec: Object) -> Object:
    """The internal type keeps what is shared with the host in the security context."""
    context = {**spec.get("securityContext", {}), **{name: spec[name] for name in _OF_POD if name in spec}}
    return struct_shown({**spec, "securityContext": context}, "PodSpec")
