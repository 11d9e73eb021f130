"""Kinds with more to it: what the strategies of single kinds do besides what those of all kinds do.

Source of the behaviour: PrepareForCreate and PrepareForUpdate of the strategy.go of each kind in pkg/registry,
apiextensions-apiserver pkg/registry/customresourcedefinition/strategy.go and kube-aggregator pkg/registry/apiservice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.api.api_services import available_locally
from engine.api.resource_table import APIEXTENSIONS, APIREGISTRATION, CERTIFICATES, DISCOVERY, RESOURCE, STORAGE
from engine.api.strategies.certificate_strategy import prepare_signing_request_for_status_update
from engine.api.strategies.daemon_generation import count_template_generation, first_template_generation
from engine.api.strategies.device_strategy import prepare_claim_status_for_update
from engine.api.strategies.kept_fields import keep
from engine.api.strategies.pod_strategy import (
    prepare_pod_for_create,
    prepare_pod_for_status_update,
    prepare_pod_for_update,
)
from engine.api.strategies.service_strategy import prepare_service_for_update
from engine.api.strategies.volume_strategy import (
    prepare_attachment_for_create,
    prepare_claim_for_create,
    prepare_claim_for_update,
    prepare_volume_for_create,
    prepare_volume_for_status_update,
)
from engine.api.types import Object

_Kind = tuple[str, str]
_JOB_PREFIX = "batch.kubernetes.io/"


def _create_namespace(obj: Object) -> None:
    finalizers = obj.setdefault("spec", {}).setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")
    metadata = obj["metadata"]
    if metadata.get("name"):
        metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = metadata["name"]


def _update_namespace(new: Object, old: Object) -> None:
    """Finalizers of a namespace are the finalize subresource's to change."""
    new.setdefault("spec", {})
    keep(new["spec"], old.get("spec", {}), "finalizers")


def _create_job(obj: Object) -> None:
    """Labels the Pods of a Job by its uid and name, and selects them by the uid, unless the selector is manual."""
    spec, metadata = obj.get("spec", {}), obj["metadata"]
    uid, name = metadata.get("uid", ""), metadata.get("name", "")
    labels = spec.setdefault("template", {}).setdefault("metadata", {}).setdefault("labels", {})
    if spec.get("manualSelector"):
        return
    for label, value in (("controller-uid", uid), ("job-name", name)):
        labels.setdefault(label, value)
        labels.setdefault(f"{_JOB_PREFIX}{label}", value)
    match = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    match.setdefault(f"{_JOB_PREFIX}controller-uid", uid)


def _create_definition(obj: Object) -> None:
    """A new CustomResourceDefinition has stored objects of its storage version only."""
    stored = _storage_version(obj)
    obj["status"] = {"storedVersions": [stored]} if stored is not None else {}


def _update_definition(new: Object, old: Object) -> None:
    before = old.get("status", {}).get("storedVersions") or []
    stored = _storage_version(new)
    if stored is not None and stored not in before:
        new["status"] = {**old.get("status", {}), "storedVersions": [*before, stored]}


def _storage_version(definition: Object) -> str | None:
    """The first version that is marked as such; None for none."""
    versions = definition.get("spec", {}).get("versions") or ()
    return next((version.get("name", "") for version in versions if version.get("storage")), None)


def _name_secrets_only(obj: Object) -> None:
    """A ServiceAccount keeps no more than the names of its secrets (cleanSecretReferences)."""
    if obj.get("secrets"):
        obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in obj["secrets"]]


def _update_signing_request(new: Object, old: Object) -> None:
    keep(new, old, "spec")


def _update_slice(new: Object, old: Object) -> None:
    if (new.get("endpoints") or []) != (old.get("endpoints") or []):
        _drop_topology(new)


def _create_api_service(obj: Object) -> None:
    """What this server serves itself is there at once."""
    if obj.get("spec", {}).get("service") is None:
        obj["status"] = available_locally({}, now=obj["metadata"].get("creationTimestamp", ""))


def _drop_topology(obj: Object) -> None:
    """The topology of v1beta1 cannot be set through v1."""
    endpoints = obj.get("endpoints") or ()
    if any("deprecatedTopology" in endpoint for endpoint in endpoints):
        obj["endpoints"] = [
            {name: value for name, value in endpoint.items() if name != "deprecatedTopology"} for endpoint in endpoints
        ]


def _name_limits(obj: Object) -> None:
    """A LimitRange may come without a name."""
    if not obj["metadata"].get("name"):
        obj["metadata"]["name"] = obj["metadata"]["uid"]


# By kind: called with the new object; with the new and the old one; and of a status also with the time that it is.
CREATE: Mapping[_Kind, Callable[[Object], None]] = {
    ("", "LimitRange"): _name_limits,
    ("", "Namespace"): _create_namespace,
    ("", "PersistentVolume"): prepare_volume_for_create,
    ("", "PersistentVolumeClaim"): prepare_claim_for_create,
    ("", "Pod"): prepare_pod_for_create,
    ("", "ServiceAccount"): _name_secrets_only,
    ("apps", "DaemonSet"): first_template_generation,
    ("batch", "Job"): _create_job,
    (APIEXTENSIONS, "CustomResourceDefinition"): _create_definition,
    (APIREGISTRATION, "APIService"): _create_api_service,
    (DISCOVERY, "EndpointSlice"): _drop_topology,
    (STORAGE, "VolumeAttachment"): prepare_attachment_for_create,
}
UPDATE: Mapping[_Kind, Callable[[Object, Object], None]] = {
    ("", "Namespace"): _update_namespace,
    ("", "PersistentVolumeClaim"): prepare_claim_for_update,
    ("", "Pod"): prepare_pod_for_update,
    ("", "Service"): prepare_service_for_update,
    ("", "ServiceAccount"): lambda new, old: _name_secrets_only(new),
    ("apps", "DaemonSet"): count_template_generation,
    (APIEXTENSIONS, "CustomResourceDefinition"): _update_definition,
    (CERTIFICATES, "CertificateSigningRequest"): _update_signing_request,
    (DISCOVERY, "EndpointSlice"): _update_slice,
}
STATUS_UPDATE: Mapping[_Kind, Callable[[Object, Object, str], None]] = {
    ("", "PersistentVolume"): prepare_volume_for_status_update,
    ("", "Pod"): lambda new, old, now: prepare_pod_for_status_update(new, old),
    (CERTIFICATES, "CertificateSigningRequest"): prepare_signing_request_for_status_update,
    (RESOURCE, "ResourceClaim"): lambda new, old, now: prepare_claim_status_for_update(new, old),
}
