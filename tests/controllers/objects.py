"""Objects as the API server would hand them out, for tests of pure plans."""

from __future__ import annotations

from typing import Any

from engine.api.types import GVR, Object

UNSET: Any = object()


def deployment(replicas: int = 10, **spec: Any) -> Object:
    rolling = {"maxSurge": spec.pop("max_surge", "25%"), "maxUnavailable": spec.pop("max_unavailable", "25%")}
    status = spec.pop("status", {})
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "default",
            "uid": "deployment-uid",
            "generation": 1,
            "annotations": spec.pop("annotations", {}),
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            "template": template(),
            **spec,
        },
        "status": status,
    }


def template(image: str = "nginx:1.27", **labels: str) -> Object:
    return {"metadata": {"labels": {"app": "web", **labels}}, "spec": {"containers": [{"name": "c", "image": image}]}}


def replica_set(
    name: str,
    size: int,
    *,
    available: int = UNSET,
    created: int = 0,
    annotations: dict[str, str] | None = None,
    image: str = "nginx:1.27",
    **status: Any,
) -> Object:
    """A ReplicaSet of `web`, by default with all of its Pods available."""
    available = size if available is UNSET else available
    counts = {"replicas": size, "availableReplicas": available, "readyReplicas": available}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"{name}-uid",
            "generation": 1,
            "creationTimestamp": f"2026-01-01T00:{created:02}:00Z",
            "annotations": annotations or {},
        },
        "spec": {"replicas": size, "template": template(image, **{"pod-template-hash": name})},
        "status": {"observedGeneration": 1, **counts, **status},
    }


def pod(name: str, *, node: str = "node-1", ready: bool = True, **fields: Any) -> Object:
    since = fields.pop("since", "2026-01-01T00:00:00Z")
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"{name}-uid",
        "labels": {"app": "web"},
        "creationTimestamp": fields.pop("created", "2026-01-01T00:00:00Z"),
        **fields.pop("metadata", {}),
    }
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": since}
    status = {
        "phase": fields.pop("phase", "Running"),
        "conditions": [condition],
        "podIP": (ip := fields.pop("ip", "10.244.0.2")),
        "podIPs": [{"ip": ip}] if ip else [],
        "containerStatuses": [{"restartCount": fields.pop("restarts", 0)}],
    }
    spec = {"nodeName": node, "containers": [{"name": "c", "ports": fields.pop("ports", [])}], **fields}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


# A custom resource that can be scaled.
DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
ROLLOUTS = GVR("example.com", "v1", "rollouts")
ROLLOUT: Object = {
    "metadata": {"name": "rollouts.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "rollouts", "kind": "Rollout"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                "subresources": {
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
                },
            }
        ],
    },
}
