"""Nodes and pods for the scheduler's tests, as short as upstream's st.MakePod and st.MakeNode."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object


def node(
    name: str,
    *,
    cpu: str = "4",
    memory: str = "8Gi",
    pods: int = 110,
    labels: dict[str, str] | None = None,
    taints: list[Object] | None = None,
    unschedulable: bool = False,
    images: list[Object] | None = None,
    allocatable: dict[str, str] | None = None,
) -> Object:
    spec: Object = {}
    if taints:
        spec["taints"] = taints
    if unschedulable:
        spec["unschedulable"] = True
    amounts = {"cpu": cpu, "memory": memory, "pods": str(pods), **(allocatable or {})}
    status: Object = {"allocatable": amounts, "capacity": amounts}
    if images:
        status["images"] = images
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": spec,
        "status": status,
    }


def container(name: str = "app", *, image: str = "nginx:1.27", **fields: Any) -> Object:
    requests = {key: str(value) for key, value in fields.pop("requests", {}).items()}
    made: Object = {"name": name, "image": image, **fields}
    if requests:
        made["resources"] = {"requests": requests}
    return made


def pod(
    name: str,
    *,
    cpu: str = "",
    memory: str = "",
    node_name: str = "",
    namespace: str = "default",
    labels: dict[str, str] | None = None,
    priority: int | None = None,
    containers: list[Object] | None = None,
    status: Object | None = None,
    **spec: Any,
) -> Object:
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    made: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": containers or [container(requests=requests)], **spec},
    }
    if labels:
        made["metadata"]["labels"] = labels
    if node_name:
        made["spec"]["nodeName"] = node_name
    if priority is not None:
        made["spec"]["priority"] = priority
    if status:
        made["status"] = status
    return made


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Object:
    made: Object = {"key": key, "effect": effect}
    if value:
        made["value"] = value
    return made


def near(key: str, labels: dict[str, str], **fields: Any) -> Object:
    """A pod affinity term."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **fields}


def affinity(
    *,
    near: list[Object] | None = None,
    far: list[Object] | None = None,
    prefer_near: list[tuple[int, Object]] | None = None,
    prefer_far: list[tuple[int, Object]] | None = None,
) -> Object:
    def side(required: list[Object] | None, preferred: list[tuple[int, Object]] | None) -> Object:
        made: Object = {}
        if required:
            made["requiredDuringSchedulingIgnoredDuringExecution"] = required
        if preferred:
            made["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": weight, "podAffinityTerm": term} for weight, term in preferred
            ]
        return made

    made: Object = {}
    if near or prefer_near:
        made["podAffinity"] = side(near, prefer_near)
    if far or prefer_far:
        made["podAntiAffinity"] = side(far, prefer_far)
    return made


def spread(key: str, labels: dict[str, str], *, max_skew: int = 1, hard: bool = True, **fields: Any) -> Object:
    return {
        "maxSkew": max_skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
        **fields,
    }
