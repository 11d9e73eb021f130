"""What of volumes and claims was let through by an older release is not held against them (ValidationOptionsFor*)."""

from __future__ import annotations

import copy

from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_update
from tests.api.objects import info, prepared

VOLUME, CLAIM = GVK("", "v1", "PersistentVolume"), GVK("", "v1", "PersistentVolumeClaim")
_VALUE = "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]"


def stored(gvk: GVK, spec: Object) -> Object:
    namespace = {"namespace": "default"} if gvk == CLAIM else {}
    obj = prepared(gvk, {"metadata": {"name": "data", **namespace}, "spec": {"accessModes": ["ReadWriteOnce"], **spec}})
    obj["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    return obj


def volume(key: str, value: str) -> Object:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    affinity = {"required": {"nodeSelectorTerms": terms}}
    return stored(VOLUME, {"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/d"}, "nodeAffinity": affinity})


def test_a_label_of_nodes_that_is_none_stays_where_it_was() -> None:
    """Even while its key becomes the stable one; a new volume, or one that had none such, does not get one."""
    old = volume("beta.kubernetes.io/instance-type", "-1")
    assert [cause.field for cause in validate_create(info(VOLUME), old)] == [_VALUE]
    assert validate_update(info(VOLUME), volume("node.kubernetes.io/instance-type", "-1"), old) == []
    found = validate_update(info(VOLUME), volume("zone", "-1"), volume("zone", "a"))
    assert [cause.field for cause in found] == [_VALUE, _VALUE, "nodeAffinity"]


def test_the_group_of_a_source_is_looked_at_where_the_old_claim_named_none() -> None:
    old = stored(CLAIM, {"resources": {"requests": {"storage": "1Gi"}}})
    new = copy.deepcopy(old)
    new["spec"]["dataSourceRef"] = {"apiGroup": "^none", "kind": "Foo", "name": "foo"}
    path = "spec.dataSourceRef.apiGroup"
    assert [cause.field for cause in validate_update(info(CLAIM), new, old)] == [path, "spec"]
    named = copy.deepcopy(old)
    named["spec"]["dataSourceRef"] = {"apiGroup": "a.example.com", "kind": "Foo", "name": "foo"}
    assert [cause.field for cause in validate_update(info(CLAIM), new, named)] == ["spec"]
