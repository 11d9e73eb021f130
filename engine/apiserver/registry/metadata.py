"""The metadata that the server alone decides (apiserver pkg/registry/rest meta.go, create.go, update.go)."""

from __future__ import annotations

from typing import Any

from engine.api.errors import ApiError, already_exists, bad_request, conflict
from engine.api.patch.merge_patch import same
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.request_info import RequestInfo

_SUFFIX = 5
_MAX_BASE = 63 - _SUFFIX
_IP_ADDRESSES = "ipaddresses.networking.k8s.io"
# Fields that a client may send and that count for nothing.
_WIPED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
_KEPT = ("creationTimestamp", "generation")


def check_place(info: ResourceInfo, request: RequestInfo, obj: Object) -> None:
    """The object must belong to the namespace and name of the path. A namespace that it leaves out is filled in, and
    one that its kind has no use for is taken away (rest.EnsureObjectNamespaceMatchesRequestNamespace)."""
    metadata: dict[str, Any] = obj.setdefault("metadata", {})
    check_namespace(info, request, metadata)
    if request.name:
        _check_name(metadata.get("name", ""), request.name)


def check_namespace(info: ResourceInfo, request: RequestInfo, metadata: Object) -> None:
    namespace = metadata.get("namespace", "")
    if not info.namespaced:
        metadata.pop("namespace", None)
    elif not namespace:
        if request.namespace:
            metadata["namespace"] = request.namespace
    elif namespace != request.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def _check_name(name: str, wanted: str) -> None:
    if not name:
        raise bad_request(f"the name of the object ({wanted} based on URL) was undeterminable: name must be provided")
    if name != wanted:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({wanted})")


def wipe_system_fields(metadata: Object) -> None:
    """What only the server says of an object, and what a client sends of that counts for nothing
    (rest.WipeObjectMetaSystemFields)."""
    for field in _WIPED:
        metadata.pop(field, None)


def fill_for_create(obj: Object, *, uid: str, now: str) -> None:
    metadata = obj["metadata"]
    wipe_system_fields(metadata)
    metadata["uid"] = uid
    metadata["creationTimestamp"] = now


def generated_name(info: ResourceInfo, base: str, suffix: str) -> str:
    """An address stands as it is: IPAddresses have no other names (their strategy's noopNameGenerator)."""
    return base if info.gvr.group_resource == _IP_ADDRESSES else base[:_MAX_BASE] + suffix


def name_taken(info: ResourceInfo, metadata: Object, present: Object | None) -> ApiError:
    """409 for an object whose name another has: one that goes, or one that the server drew (store.go create,
    rest.CheckGeneratedNameError)."""
    error = already_exists(info.gvr, metadata["name"])
    if metadata.get("generateName"):
        error.message += ", the server was not able to generate a unique name for the object"
        error.details = {**(error.details or {}), "retryAfterSeconds": 1}
        error.retry_after = 1
    if present is not None and "deletionTimestamp" in present["metadata"]:
        error.message = f"object is being deleted: {error.message}"
    return error


def check_same_object(info: ResourceInfo, new: Object, old: Object) -> None:
    """Raises ApiError 409 where an update is for another object of that name, whatever else is wrong with it: to name
    a uid is a precondition, of which the storage is asked before the strategy is (store.go Update)."""
    uid = new["metadata"].get("uid")
    if uid and uid != old["metadata"].get("uid"):
        raise conflict(info.gvr, old["metadata"]["name"], uid_mismatch(info, old["metadata"], uid))


def carry_over(new: Object, old: Object) -> None:
    """Keep what an update cannot change. It cannot undo a deletion; what would begin it, or change how long it takes,
    is left for the validation to refuse, and so is another uid, which only a patch can have (rest.BeforeUpdate)."""
    kept, metadata = old["metadata"], new["metadata"]
    for field in _KEPT:
        if field in kept:
            metadata[field] = kept[field]
        else:
            metadata.pop(field, None)
    if not metadata.get("uid"):
        metadata["uid"] = kept.get("uid", "")  # which has none where it was put into the store past the server
        if not metadata["uid"]:
            del metadata["uid"]
    if "deletionTimestamp" in kept:
        metadata["deletionTimestamp"] = kept["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in kept:
        metadata.setdefault("deletionGracePeriodSeconds", kept["deletionGracePeriodSeconds"])
    metadata.pop("selfLink", None)


def uid_mismatch(info: ResourceInfo, kept: Object, wanted: str) -> str:
    return _unmet(info, kept, "UID", wanted, kept.get("uid", ""))


def version_mismatch(info: ResourceInfo, kept: Object, wanted: str) -> str:
    return _unmet(info, kept, "ResourceVersion", wanted, kept.get("resourceVersion", ""))


def _unmet(info: ResourceInfo, kept: Object, what: str, wanted: str, found: str) -> str:
    """As etcd's storage tells it (apiserver pkg/storage/errors.go, Preconditions.Check)."""
    return (
        f"StorageError: invalid object, Code: 4, Key: {info.key(kept.get('namespace', ''), kept['name'])}, "
        "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"{what} in precondition: {wanted}, {what} in object meta: {found}"
    )


def same_but_revision(new: Object, old: Object) -> bool:
    """Whether an update changes nothing but when its manager last wrote (IgnoreManagedFieldsTimestampsTransformer).

    An atomic list that is applied without the defaults of its items is taken for a change until they are filled in.
    """
    if new.keys() != old.keys():
        return False
    for field, value in new.items():
        if field != "metadata" and value != old[field]:
            return False
    mine, theirs = new["metadata"], old["metadata"]
    if _timeless(mine.get("managedFields")) != _timeless(theirs.get("managedFields")):
        return False
    return _others(mine) == _others(theirs) and all(
        same(value, old[field]) for field, value in new.items() if field != "metadata"
    )


def _timeless(managers: Any) -> list[dict[str, Any]]:
    return [{field: value for field, value in entry.items() if field != "time"} for entry in managers or ()]


def _others(metadata: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in metadata.items() if field not in ("resourceVersion", "managedFields")}
