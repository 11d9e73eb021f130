"""From an established CustomResourceDefinition to the resources that are served for it."""

from __future__ import annotations

from engine.api.crd.naming import is_true
from engine.api.crd.version import CustomVersion
from engine.api.resource_table import SCALE, STATUS
from engine.api.resources import ResourceInfo, Subresource
from engine.api.schema import Definitions
from engine.api.types import GVK, GVR, Object

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def served(definition: Object) -> bool:
    return is_true(definition, "Established")


def custom_versions(definitions: Definitions, definition: Object) -> list[CustomVersion]:
    """The served versions, compiled."""
    return [CustomVersion(definitions, definition, each) for each in definition["spec"]["versions"] if each["served"]]


def resources(definition: Object, versions: list[CustomVersion]) -> list[ResourceInfo]:
    spec = definition["spec"]
    storage = next(each["name"] for each in spec["versions"] if each["storage"])
    return [_resource(spec, version, GVK(spec["group"], storage, version.gvk.kind)) for version in versions]


def stored_resource(definitions: Definitions, definition: Object) -> ResourceInfo:
    """The resource of the version that is stored, served or not."""
    version = next(each for each in definition["spec"]["versions"] if each["storage"])
    (made,) = resources(definition, [CustomVersion(definitions, definition, version)])
    return made


def _resource(spec: Object, version: CustomVersion, storage: GVK) -> ResourceInfo:
    names, gvk = version.names, version.gvk
    facts = {**STATUS, **SCALE}  # in the order of discovery (customresource_discovery_controller.go)
    subresources = {
        name: Subresource(name, facts[name].verbs, facts[name].kind or gvk)
        for name in facts
        if name in version.subresources
    }
    return ResourceInfo(
        gvr=GVR(gvk.group, gvk.version, names["plural"]),
        kind=gvk.kind,
        list_kind=names.get("listKind") or f"{gvk.kind}List",
        singular=names.get("singular") or gvk.kind.lower(),
        namespaced=spec["scope"] == "Namespaced",
        storage_prefix=f"/registry/{gvk.group}/{names['plural']}",
        storage_gvk=storage,
        short_names=tuple(names.get("shortNames", ())),
        categories=tuple(names.get("categories", ())),
        verbs=_VERBS,
        subresources=subresources,
        custom=True,
        extension=version,
    )
