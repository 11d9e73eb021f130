"""Defaults of Pods and of what makes Pods (pkg/apis/core/v1/defaults.go, pkg/apis/apps/v1/defaults.go)."""

from __future__ import annotations

from engine.api.defaults.fields import fill
from engine.api.defaults.pods import pod_only, pod_spec, pod_status
from engine.api.defaults.storage import claim_spec
from engine.api.defaults.twins import drop_init_annotations, pod_addresses
from engine.api.strategies.daemon_generation import fill_template_generation
from engine.api.types import Object

_QUARTER = "25%"


def pod(obj: Object) -> None:
    drop_init_annotations(obj.get("metadata", {}))
    status = obj.get("status", {})
    pod_addresses(status)
    pod_status(status)
    spec = obj.setdefault("spec", {})
    pod_spec(spec)
    pod_only(spec)


def pod_template(obj: Object) -> None:
    template(obj)


def template(owner: Object) -> None:
    """The Pod template in a spec: a plain struct in Go, so it is there even if nobody has written it."""
    found = owner.setdefault("template", {})
    drop_init_annotations(found.setdefault("metadata", {}))
    pod_spec(found.setdefault("spec", {}))


def deployment(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec.setdefault("strategy", {})
    fill(strategy, "type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", _QUARTER)
        rolling.setdefault("maxSurge", _QUARTER)
    template(spec)


def replica_set(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    template(spec)


def replication_controller(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    labels = spec.get("template", {}).get("metadata", {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not obj.setdefault("metadata", {}).get("labels"):
            obj["metadata"]["labels"] = dict(labels)
    if "template" in spec:
        template(spec)


def daemon_set(obj: Object) -> None:
    fill_template_generation(obj)
    spec = obj.setdefault("spec", {})
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec.setdefault("updateStrategy", {})
    fill(strategy, "type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    template(spec)


def stateful_set(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("serviceName", "")  # need not be said, and is written all the same
    fill(spec, "podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
        strategy["rollingUpdate"].setdefault("maxUnavailable", 1)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    fill(retention, "whenDeleted", "Retain")
    fill(retention, "whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates", ()):
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim_spec(claim.setdefault("spec", {}))
        claim.setdefault("status", {}).setdefault("phase", "Pending")
    template(spec)
