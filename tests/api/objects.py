"""Objects that the tests of the object model start from, and the way of a request's object through hop 05."""

from __future__ import annotations

from typing import Any

from engine.api.decoding import decode
from engine.api.defaults import apply_defaults
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.schema import load_definitions
from engine.api.strategies.strategy import prepare_for_create
from engine.api.types import GVK, Object
from engine.api.validation import validate_create

REGISTRY = ResourceRegistry.for_version()
DEFINITIONS = load_definitions()

POD = GVK("", "v1", "Pod")
SERVICE = GVK("", "v1", "Service")
DEPLOYMENT = GVK("apps", "v1", "Deployment")
JOB = GVK("batch", "v1", "Job")


def info(gvk: GVK) -> ResourceInfo:
    found = REGISTRY.by_kind(gvk)
    assert found is not None
    return found


def defaulted(gvk: GVK, value: Any) -> Object:
    decoded = decode(DEFINITIONS, gvk, value)
    assert decoded.unknown == []
    apply_defaults(info(gvk), decoded.object)
    return decoded.object


def prepared(gvk: GVK, value: Any) -> Object:
    """As it stands before it is validated."""
    obj = defaulted(gvk, value)
    prepare_for_create(info(gvk), obj)
    return obj


def problems(gvk: GVK, value: Any) -> list[str]:
    return [str(cause) for cause in validate_create(info(gvk), prepared(gvk, value))]


def pod(**spec: Any) -> Object:
    metadata = {"name": "web", "namespace": "default"}
    return {"metadata": metadata, "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}], **spec}}


def container(**fields: Any) -> Object:
    """A Pod with one container that has these fields besides."""
    return pod(containers=[{"name": "web", "image": "nginx:1.27", **fields}])


def deployment(**spec: Any) -> Object:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    metadata = {"name": "web", "namespace": "default"}
    return {"metadata": metadata, "spec": {"selector": {"matchLabels": labels}, "template": template, **spec}}


def service(**spec: Any) -> Object:
    metadata = {"name": "web", "namespace": "default"}
    return {"metadata": metadata, "spec": {"ports": [{"port": 80}], **spec}}
