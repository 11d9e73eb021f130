"""Objects that the API server makes by itself, past admission and validation, as its store keeps them.

What a create makes of such an object (the strategy's preparation, defaults, owners, the order of fields, the stored
version) follows from it and from the version of Kubernetes, and a server makes some two hundred before it answers
anybody. So that is worked out once in a process, with two blanks, which each object fills by itself: uid and time.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

import orjson

from engine.api.apply import track_update
from engine.api.apply.managers import timestamp
from engine.api.defaults import apply_defaults
from engine.api.field_order import FieldOrder
from engine.api.kept_json import kept_json
from engine.api.resources import ResourceRegistry
from engine.api.schema import load_definitions
from engine.api.strategies.strategy import prepare_for_create
from engine.api.types import GVK, Object
from engine.apiserver.registry.conversion import to_storage
from engine.apiserver.registry.metadata import fill_for_create

_MANAGER = "kube-apiserver"
_NEVER = datetime.min.replace(tzinfo=UTC)
NO_TIME = timestamp(_NEVER)  # what an object has for the time at which it is made, in a condition of its status
_NO_TIME = NO_TIME.encode()
_NO_UID = "00000000-0000-0000-0000-000000000000"
_FORMS = 1024


def own_object(version: str, obj: Object, *, uid: str, now: datetime) -> bytes:
    """The value that the store keeps for `obj`, of a built-in kind which a version of Kubernetes serves: made at `now`,
    which takes the place of each `NO_TIME`. A status that it brings stays."""
    form = _form(version, orjson.dumps(obj))
    return form.replace(_NO_TIME, _stamp(now)).replace(_NO_UID.encode(), uid.encode())


@lru_cache(maxsize=1)
def _stamp(now: datetime) -> bytes:
    """A server makes all that it begins with in one second."""
    return timestamp(now).encode()


def gvk_of(obj: Object) -> GVK:
    """What an object says of its kind."""
    group, _, version = obj["apiVersion"].rpartition("/")
    return GVK(group, version, obj["kind"])


@lru_cache(maxsize=_FORMS)
def _form(version: str, given: bytes) -> bytes:
    """What is stored of an object, given as JSON, but for the blanks."""
    obj: Object = orjson.loads(given)
    definitions = load_definitions(version)
    info = ResourceRegistry.for_version(version).by_kind(gvk_of(obj))
    assert info is not None, f"{version} serves {obj['kind']}"
    status = obj.get("status")
    fill_for_create(obj, uid=_NO_UID, now=NO_TIME)
    prepare_for_create(info, obj)
    apply_defaults(info, obj)
    if status is not None:
        obj["status"] = status
    schema = definitions.kind(info.gvk)
    if schema is not None:
        obj = track_update(None, obj, manager=_MANAGER, now=_NEVER, schema=schema, api_version=info.gvr.api_version)
    order = FieldOrder.for_version(version)
    stored = to_storage(info, order.of(info, info.gvk, obj))
    return kept_json(order.of(info, info.storage_gvk, stored) if info.converts else stored)
