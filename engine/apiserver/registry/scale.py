"""What the scale subresources of all kinds have in common (ScaleREST and scaleUpdatedObjectInfo of pkg/registry)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.api.apply.scale_owners import ReplicasPath, owners_with_scale, scale_owners
from engine.api.errors import ApiError, conflict, field_invalid, invalid, not_found
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.registry.facet import SCALE
from engine.apiserver.request_info import RequestInfo

# By which group they name themselves.
_GROUPS = {"deployments.apps": "apps", "replicasets.apps": "apps", "replicationcontrollers": "autoscaling"}


@contextmanager
def named_by_scale(info: ResourceInfo, request: RequestInfo) -> Iterator[None]:
    """Whose scale is not there is told by the subresource's name where ScaleREST.Get makes the error itself."""
    try:
        yield
    except ApiError as error:
        group = _GROUPS.get(info.gvr.group_resource)
        if error.reason != "NotFound" or request.subresource != "scale" or group is None:
            raise
        place = info.gvr._replace(group=group, resource=f"{info.gvr.resource}/scale")
        raise not_found(place, request.name) from None


def scale_metadata(obj: Object) -> Object:
    """What a Scale says of the object that it is of."""
    metadata = obj["metadata"]
    return {
        key: metadata[key]
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        if key in metadata
    }


def with_scale_owners(scale: Object, obj: Object, path_in: ReplicasPath) -> Object:
    """The Scale that a write starts from: it also says who owns the replicas."""
    if entries := scale_owners(obj["metadata"].get("managedFields"), path_in):
        return {**scale, "metadata": {**scale["metadata"], "managedFields": entries}}
    return scale


def check_scale(info: ResourceInfo, old: Object, scale: Object, replicas: int) -> None:
    name = old["metadata"]["name"]
    if replicas < 0:
        raise invalid(SCALE, name, [field_invalid("spec.replicas", replicas, "must be greater than or equal to 0")])
    wanted, found = scale["metadata"].get("uid"), old["metadata"].get("uid", "")
    if wanted and wanted != found:
        text = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        raise conflict(info.gvr._replace(resource=f"{info.gvr.resource}/scale"), name, text)


def take_scale_metadata(new: Object, scale: Object, path_in: ReplicasPath, api_version: str) -> None:
    """The version that the write is for, and who owns the replicas after it."""
    metadata = new["metadata"]
    metadata["resourceVersion"] = scale["metadata"].get("resourceVersion", "")
    entries = owners_with_scale(
        metadata.pop("managedFields", None), scale["metadata"].get("managedFields"), path_in, api_version
    )
    if entries:
        metadata["managedFields"] = entries
