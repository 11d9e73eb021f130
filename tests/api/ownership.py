"""What the tests of server-side apply say their cases with: objects, writes and who owns what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from engine.api.apply import apply, track_update
from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK, Object

T0 = datetime(2026, 1, 1, tzinfo=UTC)
LATER = T0 + timedelta(minutes=1)


def kind(group: str, version: str, name: str) -> Schema:
    schema = load_definitions().kind(GVK(group, version, name))
    assert schema is not None
    return schema


DEPLOYMENT = kind("apps", "v1", "Deployment")
POD = kind("", "v1", "Pod")
SERVICE = kind("", "v1", "Service")
CONFIG_MAP = kind("", "v1", "ConfigMap")
SCHEMAS = {"Deployment": DEPLOYMENT, "Pod": POD, "Service": SERVICE, "ConfigMap": CONFIG_MAP}


def updated(old: Object | None, new: Object, manager: str, now: datetime = T0, subresource: str = "") -> Object:
    return track_update(
        old,
        new,
        manager=manager,
        now=now,
        schema=SCHEMAS.get(new["kind"]),
        api_version=new["apiVersion"],
        subresource=subresource,
    )


def applied(
    live: Object | None,
    config: Object,
    manager: str,
    *,
    force: bool = False,
    now: datetime = T0,
    subresource: str = "",
) -> Object:
    return apply(
        live,
        config,
        manager=manager,
        force=force,
        now=now,
        schema=SCHEMAS.get(config["kind"]),
        api_version=config["apiVersion"],
        subresource=subresource,
    )


def deployment(replicas: int | None = None, *containers: Object, **metadata: Any) -> Object:
    spec: Object = {} if replicas is None else {"replicas": replicas}
    if containers:
        spec["template"] = {"spec": {"containers": list(containers)}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", **metadata},
        "spec": spec,
    }


def config_map(uid: str = "", **data: str) -> Object:
    metadata = {"name": "c", "namespace": "default", **({"uid": uid} if uid else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def stored(obj: Object) -> Object:
    """As it comes back from the store."""
    copied: Object = orjson.loads(orjson.dumps(obj))
    copied["metadata"].setdefault("uid", "u-1")
    return copied


def edited(obj: Object, change: Object) -> Object:
    """A copy with the top-level fields of `change` in place of its own."""
    return {**orjson.loads(orjson.dumps(obj)), **change}


def owners(obj: Object) -> dict[str, Object]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}
