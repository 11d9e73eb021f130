"""Strategic merge patches: applying them, and the two- and three-way patches that kubectl makes."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.errors import ApiError
from engine.api.patch import (
    PatchConflictError,
    PreconditionFailedError,
    key_unchanged,
    metadata_key_unchanged,
    strategic_merge_patch,
    three_way_strategic_patch,
    two_way_strategic_patch,
)
from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK, Object


def kind(group: str, version: str, name: str) -> Schema:
    schema = load_definitions().kind(GVK(group, version, name))
    assert schema is not None
    return schema


POD = kind("", "v1", "Pod")
DEPLOYMENT = kind("apps", "v1", "Deployment")


def container(name: str, **fields: Any) -> Object:
    return {"name": name, **fields}


def pod(**spec: Any) -> Object:
    return {"spec": spec}


APPLIED: dict[str, tuple[Object, Object, Object]] = {
    "a deletion list that is null takes the list away": (
        {"metadata": {"name": "n", "finalizers": ["a"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": None}},
        {"metadata": {"name": "n"}},
    ),
    "a deletion list that is none is passed over": (
        {"metadata": {"finalizers": ["a"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": 1, "$deleteFromPrimitiveList/x": 1}},
        {"metadata": {"finalizers": ["a"]}},
    ),
    "a deletion list of maps is merged": (
        pod(containers=[container("a", image="x")]),
        pod(**{"$deleteFromPrimitiveList/containers": [container("a", image="y")]}),
        pod(containers=[container("a", image="y")]),
    ),
    "a new list with an order keeps its nulls": (
        {"metadata": {}},
        {
            "metadata": {
                "$setElementOrder/ownerReferences": [{"uid": "b"}, {"uid": "a"}],
                "ownerReferences": [{"uid": "c", "$patch": "delete"}, {"uid": "b", "name": None}, {"uid": "a"}],
            }
        },
        {"metadata": {"ownerReferences": [{"uid": "b", "name": None}, {"uid": "a"}]}},
    ),
    "a map with a directive in the place of a list takes the list away": (
        pod(nodeName="n", containers=[container("a")]),
        pod(containers={"$patch": "replace", "a": 1}),
        pod(nodeName="n"),
    ),
    "a directive that is null is none in an element of a new list": (
        pod(nodeName="n"),
        pod(containers=[container("a", image="x", **{"$patch": None}), container("b", image=None)]),
        pod(nodeName="n", containers=[container("a", image="x"), container("b")]),
    ),
    "a name that is a map is like no other": (
        pod(containers=[container("a"), container("b")]),
        pod(**{"$setElementOrder/containers": [{"name": {"a": "b"}}, {"name": "b"}, {"name": "a"}]}),
        pod(containers=[container("b"), container("a")]),
    ),
    "a scalar is set, a null deletes": (
        pod(nodeName="a", hostname="h"),
        pod(nodeName="b", hostname=None),
        pod(nodeName="b"),
    ),
    "labels merge": (
        {"metadata": {"labels": {"a": "1", "b": "2"}}},
        {"metadata": {"labels": {"b": None, "c": "3"}}},
        {"metadata": {"labels": {"a": "1", "c": "3"}}},
    ),
    "containers merge by name": (
        pod(containers=[container("a", image="x", tty=True), container("b", image="y")]),
        pod(containers=[container("a", image="z")]),
        pod(containers=[container("a", image="z", tty=True), container("b", image="y")]),
    ),
    "what is new in a list keeps the patch's order": (
        pod(containers=[container("a"), container("b")]),
        pod(containers=[container("n"), container("b", image="y")]),
        pod(containers=[container("n"), container("a"), container("b", image="y")]),
    ),
    "an element is deleted": (
        pod(containers=[container("a"), container("b")]),
        pod(containers=[{"name": "a", "$patch": "delete"}]),
        pod(containers=[container("b")]),
    ),
    "a list is replaced": (
        pod(containers=[container("a"), container("b")]),
        pod(containers=[{"$patch": "replace"}, container("c")]),
        pod(containers=[container("c")]),
    ),
    "a map is replaced": (
        {"metadata": {"labels": {"a": "1"}}},
        {"metadata": {"labels": {"$patch": "replace", "b": "2"}}},
        {"metadata": {"labels": {"b": "2"}}},
    ),
    "a map is emptied": (
        {"metadata": {"labels": {"a": "1"}}},
        {"metadata": {"labels": {"$patch": "delete"}}},
        {"metadata": {"labels": {}}},
    ),
    "of what is new nulls are dropped, and all that has $patch": (
        pod(),
        pod(
            securityContext={"runAsUser": 1, "runAsGroup": None, "seLinuxOptions": {"$patch": "replace", "level": "1"}},
            volumes=[{"name": "v"}, {"name": "w", "$patch": "delete"}],
            nodeSelector={"$patch": "replace", "a": "b"},
        ),
        pod(securityContext={"runAsUser": 1}, volumes=[{"name": "v"}]),
    ),
    "an element that is renamed takes the place that became free": (
        pod(containers=[container("a"), container("b"), container("c")]),
        pod(
            **{"$setElementOrder/containers": [{"name": "n"}]},
            containers=[container("n", image="x"), {"name": "a", "$patch": "delete"}],
        ),
        pod(containers=[container("b"), container("c"), container("n", image="x")]),
    ),
    "an atomic list is replaced": (
        pod(tolerations=[{"key": "a"}]),
        pod(tolerations=[{"key": "b"}]),
        pod(tolerations=[{"key": "b"}]),
    ),
    "a list of primitives merges": (
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"finalizers": ["c"]}},
        {"metadata": {"finalizers": ["c", "a", "b"]}},
    ),
    "primitives are deleted by the parallel list": (
        {"metadata": {"finalizers": ["a", "b", "c"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["b"]}},
        {"metadata": {"finalizers": ["a", "c"]}},
    ),
    "retainKeys clears what it does not name": (
        {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}},
        {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
        {"spec": {"strategy": {"type": "Recreate"}}},
    ),
    "retainKeys in an element of a list": (
        pod(volumes=[{"name": "v", "emptyDir": {}}]),
        pod(volumes=[{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}]),
        pod(volumes=[{"name": "v", "hostPath": {"path": "/"}}]),
    ),
    "setElementOrder orders; what only the server has stays before what it was before": (
        pod(containers=[container("a"), container("s"), container("b")]),
        pod(**{"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}),
        pod(containers=[container("s"), container("b"), container("a")]),
    ),
    "setElementOrder with changes keeps what only the server has": (
        pod(containers=[container("a"), container("s")]),
        pod(
            **{"$setElementOrder/containers": [{"name": "n"}, {"name": "a"}]},
            containers=[container("n", image="x"), {"name": "a", "tty": True}],
        ),
        pod(containers=[container("n", image="x"), container("a", tty=True), container("s")]),
    ),
    "ports merge by the first of their two keys": (
        pod(containers=[container("a", ports=[{"containerPort": 80, "name": "http"}])]),
        pod(containers=[container("a", ports=[{"containerPort": 80, "hostPort": 8080}])]),
        pod(containers=[container("a", ports=[{"containerPort": 80, "name": "http", "hostPort": 8080}])]),
    ),
}


def schema_of(obj: Object) -> Schema:
    return DEPLOYMENT if "strategy" in obj.get("spec", {}) else POD


@pytest.mark.parametrize("case", APPLIED)
def test_applied(case: str) -> None:
    original, patch, expected = APPLIED[case]
    before = copy.deepcopy((original, patch))
    assert strategic_merge_patch(original, patch, schema_of(original)) == expected
    assert (original, patch) == before, "what it is given is not changed"


@pytest.mark.parametrize("case", APPLIED)
def test_kubectl_applies_the_same(case: str, tmp_path: Path) -> None:
    """The real kubectl is asked: it can patch a local file with upstream's own code."""
    original, patch, expected = APPLIED[case]
    head = {"apiVersion": "apps/v1", "kind": "Deployment"} if schema_of(original) is DEPLOYMENT else {}
    obj = {"apiVersion": "v1", "kind": "Pod", **head, **original}
    obj["metadata"] = {"name": "p", **original.get("metadata", {})}
    file = tmp_path / "object.json"
    file.write_bytes(orjson.dumps(obj))
    kubectl = str(Path(sys.executable).parent / "kubectl")
    command = [kubectl, "patch", "--local", "--type=strategic", "-o", "json", "-f", str(file)]
    done = subprocess.run([*command, "-p", orjson.dumps(patch).decode()], capture_output=True, check=True, timeout=60)
    wanted = {**obj, **expected, "metadata": {"name": "p", **expected.get("metadata", {})}}
    assert _without_empty(orjson.loads(done.stdout)) == _without_empty(wanted)


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: item for key, item in ((k, _without_empty(v)) for k, v in value.items()) if item not in ({}, [])}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


REFUSED: dict[str, tuple[Object, Any, int, str]] = {
    "an order in which something is no map": (
        pod(containers=[container("a"), container("b")]),
        pod(**{"$setElementOrder/containers": [{"name": "a"}, ["b"]]}),
        500,
        "value for key 1 is not a map",
    ),
    "an order of a map": (
        pod(dnsPolicy="a"),
        pod(**{"$setElementOrder/nodeSelector": []}),
        500,
        "expected slice or array type, but got: struct",
    ),
    "a deletion list of maps in a list of texts": (
        {"metadata": {"finalizers": []}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": [{}]}},
        500,
        "cannot merge lists without merge key for string",
    ),
    "no map": ({}, [], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    "no merge key": (
        pod(containers=[container("a")]),
        pod(containers=[{"image": "x"}]),
        500,
        "map: map[image:x] does not contain declared merge key: name",
    ),
    "unknown directive": (
        pod(containers=[container("a")]),
        pod(containers=[{"name": "a", "$patch": "boom"}]),
        500,
        "unknown patch type: boom in map: map[$patch:boom name:a]",
    ),
    "retainKeys lacks a key of the patch": (
        pod(securityContext={"a": 1}),
        pod(securityContext={"$retainKeys": ["b"], "c": 1}),
        400,
        "invalid patch format of retainKeys",
    ),
    "deletion list with no field": (
        {},
        {"$deleteFromPrimitiveList": ["a"]},
        400,
        "invalid patch format of primitive list",
    ),
    "order that contradicts the patch": (
        pod(containers=[container("a"), container("b")]),
        pod(
            **{"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]},
            containers=[{"name": "a", "tty": True}, {"name": "b", "tty": True}],
        ),
        500,
        "The order in patch list:\n[map[name:a tty:true] map[name:b tty:true]]\n doesn't match $setElementOrder list:\n"
        "[map[name:b] map[name:a]]\n",
    ),
    "lists of lists": (
        {"metadata": {"finalizers": []}},
        {"metadata": {"finalizers": [["b"]]}},
        422,
        "the server rejected our request due to an error in our request",
    ),
    "a list among others": (
        {"metadata": {"finalizers": ["a"]}},
        {"metadata": {"finalizers": [["b"]]}},
        500,
        "list element types are not identical: [[a] [[b]]]",
    ),
    "deletion of what is no primitive of the list": (
        {"metadata": {"finalizers": ["a"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": [None]}},
        500,
        "list element types are not identical: [[a] [<nil>]]",
    ),
    "order that is no list": (
        {"metadata": {}},
        {"metadata": {"$setElementOrder/finalizers": 1}},
        500,
        "expected a []interface {}, but received a int64",
    ),
    "order of a list that goes": (
        {"metadata": {}},
        {"metadata": {"$setElementOrder/finalizers": ["a"], "finalizers": None}},
        500,
        "expected a []interface {}, but received a %!s(<nil>)",
    ),
    "order of nothing": (
        {"metadata": {}},
        {"metadata": {"$setElementOrder/finalizers": [], "finalizers": []}},
        500,
        "no elements in any of the given slices",
    ),
    "order that has no maps": (
        pod(),
        pod(**{"$setElementOrder/containers": ["a"]}, containers=[container("a")]),
        500,
        "expected a map[string]interface {}, but received a string",
    ),
    "order of a field that there is not": (
        {},
        {"$setElementOrder/foo": ["a"], "foo": ["a"]},
        500,
        'unable to find api field in struct Pod for the json field "foo"',
    ),
    "order of a key of a map": (
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"labels": {"$setElementOrder/foo": ["a"]}}},
        500,
        "merging an object in json but data type is not struct, instead is: map",
    ),
    "directive that is no text": (
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"labels": {"$patch": {"a": [1, True, None]}}}},
        500,
        "unknown patch type: map[a:[%!s(int64=1) %!s(bool=true) <nil>]] in map: map[$patch:map[a:[1 true <nil>]]]",
    ),
}


def test_what_an_opaque_value_holds_cannot_be_merged() -> None:
    revision = kind("apps", "v1", "ControllerRevision")
    with pytest.raises(ApiError) as caught:
        strategic_merge_patch({"data": {"spec": {"a": 1}}}, {"data": {"spec": {"b": 1}}}, revision)
    assert caught.value.message == 'unable to find api field in struct RawExtension for the json field "spec"'
    assert strategic_merge_patch({"data": {"spec": 1}}, {"data": {"spec": {}}}, revision) == {"data": {"spec": {}}}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    original, patch, code, message = REFUSED[case]
    with pytest.raises(ApiError) as caught:
        strategic_merge_patch(original, patch, POD)
    assert (caught.value.code, caught.value.message) == (code, message)


DIFFS: dict[str, tuple[Object, Object, Object]] = {
    "nothing": (pod(containers=[container("a")]), pod(containers=[container("a")]), {}),
    "a change in a list names its key and the order": (
        pod(containers=[container("a", image="x"), container("b")]),
        pod(containers=[container("a", image="y"), container("b")]),
        pod(
            **{"$setElementOrder/containers": [{"name": "a"}, {"name": "b"}]}, containers=[{"name": "a", "image": "y"}]
        ),
    ),
    "an element that is gone": (
        pod(containers=[container("a"), container("b")]),
        pod(containers=[container("b")]),
        pod(
            **{"$setElementOrder/containers": [{"name": "b"}]},
            containers=[{"name": "a", "$patch": "delete"}],
        ),
    ),
    "a primitive that is gone": (
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"finalizers": ["b"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "$setElementOrder/finalizers": ["b"]}},
    ),
    "primitives that are equal but not sorted name their order too": (
        {"metadata": {"finalizers": ["b", "a"]}},
        {"metadata": {"finalizers": ["b", "a"]}},
        {"metadata": {"$setElementOrder/finalizers": ["b", "a"]}},
    ),
    "only the order": (
        pod(containers=[container("a"), container("b")]),
        pod(containers=[container("b"), container("a")]),
        pod(**{"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}),
    ),
    "of twins under one key one is paired, and the other deletes them": (
        pod(containers=[container("a", ports=[{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}])]),
        pod(containers=[container("a", ports=[{"containerPort": 53, "protocol": "UDP"}])]),
        pod(
            **{"$setElementOrder/containers": [{"name": "a"}]},
            containers=[
                {
                    "name": "a",
                    "$setElementOrder/ports": [{"containerPort": 53}],
                    "ports": [{"containerPort": 53, "$patch": "delete"}],
                }
            ],
        ),
    ),
    "twins that are new come the other way round": (
        pod(containers=[container("a")]),
        pod(containers=[container("b", image="x"), container("b", image="y")]),
        pod(
            **{"$setElementOrder/containers": [{"name": "b"}, {"name": "b"}]},
            containers=[container("b", image="y"), container("b", image="x"), {"name": "a", "$patch": "delete"}],
        ),
    ),
    "primitives that were there thrice": (
        {"metadata": {"finalizers": ["c", "a", "b", "a", "a"]}},
        {"metadata": {"finalizers": ["d", "a", "d"]}},
        {
            "metadata": {
                "$deleteFromPrimitiveList/finalizers": ["a", "c", "b"],
                "$setElementOrder/finalizers": ["d", "a", "d"],
                "finalizers": ["d", "d"],
            }
        },
    ),
    "a label": (
        {"metadata": {"labels": {"a": "1"}}},
        {"metadata": {"labels": {"b": "1"}}},
        {"metadata": {"labels": {"a": None, "b": "1"}}},
    ),
    "a strategy retains its keys": (
        {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}},
        {"spec": {"strategy": {"type": "Recreate"}}},
        {"spec": {"strategy": {"$retainKeys": ["type"], "rollingUpdate": None, "type": "Recreate"}}},
    ),
}


@pytest.mark.parametrize("case", DIFFS)
def test_two_way(case: str) -> None:
    original, modified, expected = DIFFS[case]
    schema = schema_of(original)
    patch = two_way_strategic_patch(original, modified, schema)
    assert patch == expected
    if "twins" not in case and "thrice" not in case:  # of what is there twice upstream's patches make something else
        assert strategic_merge_patch(original, patch, schema) == modified


def deployment(replicas: int, *containers: Object, **metadata: Any) -> Object:
    return {
        "metadata": {"name": "web", **metadata},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": list(containers)}}},
    }


def test_three_way_keeps_what_others_added() -> None:
    last = deployment(1, container("a", image="x"), labels={"mine": "1", "old": "1"})
    now = deployment(2, container("a", image="y"), labels={"mine": "1"})
    live = deployment(
        1, container("a", image="x", tty=True), container("sidecar"), labels={"mine": "1", "old": "1", "theirs": "1"}
    )
    patch = three_way_strategic_patch(last, now, live, DEPLOYMENT)
    assert patch == {
        "metadata": {"labels": {"old": None}},
        "spec": {
            "replicas": 2,
            "template": {
                "spec": {
                    "$setElementOrder/containers": [{"name": "a"}],
                    "containers": [{"name": "a", "image": "y"}],
                }
            },
        },
    }
    assert strategic_merge_patch(live, patch, DEPLOYMENT) == deployment(
        2, container("a", image="y", tty=True), container("sidecar"), labels={"mine": "1", "theirs": "1"}
    )


def test_three_way_deletes_an_element_that_was_given_up() -> None:
    last = deployment(1, container("a"), container("b"))
    now = deployment(1, container("a"))
    live = deployment(1, container("a"), container("b"), container("sidecar"))
    patch = three_way_strategic_patch(last, now, live, DEPLOYMENT)
    assert strategic_merge_patch(live, patch, DEPLOYMENT) == deployment(1, container("a"), container("sidecar"))


def test_three_way_without_changes_is_empty() -> None:
    applied = deployment(1, container("a", image="x"))
    live = {**deployment(1, container("a", image="x", tty=False)), "status": {"replicas": 1}}
    assert three_way_strategic_patch(applied, applied, live, DEPLOYMENT) == {}


def test_preconditions() -> None:
    unchanged = [key_unchanged("kind"), metadata_key_unchanged("name")]
    with pytest.raises(PreconditionFailedError, match="precondition failed for: map"):
        three_way_strategic_patch(
            {}, {"metadata": {"name": "b"}}, {"metadata": {"name": "a"}}, POD, preconditions=unchanged
        )
    assert two_way_strategic_patch({"kind": "Pod"}, {"kind": "Pod", "spec": {}}, POD, preconditions=unchanged)


def test_without_overwrite_a_change_by_another_conflicts() -> None:
    last, live = deployment(1, container("a")), deployment(3, container("a"))
    with pytest.raises(PatchConflictError, match="the patch conflicts with changes"):
        three_way_strategic_patch(last, deployment(2, container("a")), live, DEPLOYMENT, overwrite=False)
    apart = deployment(1, container("a", image="x"))
    assert three_way_strategic_patch(last, apart, last, DEPLOYMENT, overwrite=False)
    rules = kind("rbac.authorization.k8s.io", "v1", "ClusterRole")
    wanted, found = ({"rules": [{"resourceNames": [], **more}]} for more in ({"verbs": ["a"]}, {}))
    with pytest.raises(ApiError, match="no elements in any of the given slices"):  # which both would make of it
        three_way_strategic_patch({}, wanted, found, rules, overwrite=False)


NAMES = st.sampled_from("abcde")
CONTAINERS = st.dictionaries(
    NAMES, st.fixed_dictionaries({}, optional={"image": st.sampled_from("xyz"), "tty": st.booleans()}), max_size=4
).map(lambda found: [{"name": name, **fields} for name, fields in found.items()])
PODS = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {},
            optional={
                "labels": st.dictionaries(NAMES, st.sampled_from("12")),
                "finalizers": st.lists(NAMES, unique=True),
            },
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "containers": CONTAINERS,
                "nodeName": st.sampled_from("mn"),
                "tolerations": st.lists(st.fixed_dictionaries({"key": NAMES}), max_size=2),
                "volumes": st.dictionaries(NAMES, st.sampled_from(["emptyDir", "hostPath"]), max_size=3).map(
                    lambda found: [{"name": name, source: {}} for name, source in found.items()]
                ),
            },
        ),
    }
)


def _without_order(value: Any, key: str = "") -> Any:
    """Lists that merge have no order that matters, and an empty one is as good as none."""
    if isinstance(value, dict):
        return {k: v for k, v in ((k, _without_order(v, k)) for k, v in value.items()) if v not in ([], {})}
    if isinstance(value, list) and key != "tolerations":
        return sorted(map(_without_order, value), key=str)
    return value


@given(PODS, PODS)
def test_the_two_way_patch_makes_the_modified_object(original: Object, modified: Object) -> None:
    patch = two_way_strategic_patch(original, modified, POD)
    assert _without_order(strategic_merge_patch(original, patch, POD)) == _without_order(modified)


@given(PODS, PODS)
def test_with_nobody_else_the_three_way_patch_does_as_the_two_way_one(original: Object, modified: Object) -> None:
    patch = three_way_strategic_patch(original, modified, original, POD)
    assert _without_order(strategic_merge_patch(original, patch, POD)) == _without_order(modified)
