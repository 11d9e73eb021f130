"""Server-side apply and the tracking of field owners, through the two functions that the server calls."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api.apply import apply, track_update
from engine.api.errors import ApiError
from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK, Object

UNTYPED = "failed to create typed patch object (default/c; /v1, Kind=ConfigMap)"
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


class TestTrackUpdate:
    def test_a_create_owns_all_that_it_sets(self) -> None:
        made = updated(
            None,
            deployment(
                3,
                {"name": "a", "image": "x", "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {}},
                labels={"app": "web"},
            ),
            "kubectl-create",
        )
        assert made["metadata"]["managedFields"] == [
            {
                "manager": "kubectl-create",
                "operation": "Update",
                "apiVersion": "apps/v1",
                "time": "2026-01-01T00:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                    "f:spec": {
                        "f:replicas": {},
                        "f:template": {
                            "f:spec": {
                                "f:containers": {
                                    'k:{"name":"a"}': {
                                        ".": {},
                                        "f:image": {},
                                        "f:name": {},
                                        "f:ports": {
                                            ".": {},
                                            'k:{"containerPort":80,"protocol":"TCP"}': {
                                                ".": {},
                                                "f:containerPort": {},
                                                "f:protocol": {},
                                            },
                                        },
                                        "f:resources": {},
                                    }
                                }
                            }
                        },
                    },
                },
            }
        ]

    def test_an_update_owns_what_it_changes_and_takes_it_from_others(self) -> None:
        made = stored(updated(None, config_map(a="1", b="1"), "one"))
        after = updated(made, edited(made, {"data": {"a": "2", "b": "1", "c": "1"}}), "two", LATER)
        assert owners(after) == {
            "one": {"f:data": {".": {}, "f:b": {}}},
            "two": {"f:data": {"f:a": {}, "f:c": {}}},
        }
        assert [entry["time"] for entry in after["metadata"]["managedFields"]] == [
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:01:00Z",
        ]

    def test_a_field_that_goes_is_nobodys_and_who_has_none_goes_too(self) -> None:
        made = stored(updated(None, config_map(a="1"), "one"))
        both = stored(updated(made, edited(made, {"data": {"a": "1", "b": "1"}}), "two"))
        after = updated(both, edited(both, {"data": {"a": "1"}}), "three", LATER)
        assert owners(after) == {"one": {"f:data": {".": {}, "f:a": {}}}}

    def test_a_write_that_changes_nothing_leaves_the_time(self) -> None:
        made = stored(updated(None, config_map(a="1"), "one"))
        assert updated(made, stored(made), "one", LATER) == made
        assert updated(made, stored(made), "two", LATER) == made

    def test_a_client_that_drops_managed_fields_does_not_drop_the_owners(self) -> None:
        made = stored(updated(None, config_map(a="1"), "one"))
        bare = stored(made)
        del bare["metadata"]["managedFields"]
        assert updated(made, bare, "two") == made

    def test_one_empty_entry_resets_and_then_nothing_is_tracked(self) -> None:
        made = stored(updated(None, config_map(a="1"), "one"))
        reset = stored(made)
        reset["metadata"]["managedFields"] = [{}]
        bare = updated(made, reset, "two")
        assert "managedFields" not in bare["metadata"]
        assert "managedFields" not in updated(bare, edited(bare, {"data": {"a": "2"}}), "two")["metadata"]

    def test_managed_fields_that_are_no_such_thing_are_ignored(self) -> None:
        made = stored(updated(None, config_map(a="1"), "one"))
        broken = stored(made)
        broken["metadata"]["managedFields"] = [{"manager": "x", "operation": "Boom"}]
        assert updated(made, broken, "two") == made

    def test_a_client_may_give_fields_away(self) -> None:
        made = stored(updated(None, config_map(a="1"), "one"))
        given = stored(made)
        given["metadata"]["managedFields"][0]["manager"] = "other"
        assert list(owners(updated(made, given, "two"))) == ["other"]

    def test_status_belongs_to_its_subresource(self) -> None:
        pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n"}}
        made = stored(updated(None, {**pod, "status": {"phase": "Pending"}}, "kubectl"))
        assert owners(made) == {"kubectl": {"f:spec": {"f:nodeName": {}}}}
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        after = updated(made, edited(made, {"status": status}), "kubelet", LATER, "status")
        entry = after["metadata"]["managedFields"][1]
        assert entry["subresource"] == "status"
        assert entry["fieldsV1"] == {
            "f:status": {
                "f:conditions": {".": {}, 'k:{"type":"Ready"}': {".": {}, "f:status": {}, "f:type": {}}},
                "f:phase": {},
            }
        }

    def test_what_the_server_sets_is_never_owned(self) -> None:
        made = updated(None, stored({**config_map(), "data": {}}), "one")
        assert owners(made) == {"one": {"f:data": {}}}

    def test_sets_own_values_and_atomic_lists_go_as_a_whole(self) -> None:
        made = updated(
            None,
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "finalizers": ["b", "a"]},
                "spec": {"tolerations": [{"key": "x"}], "nodeSelector": {"a": "b"}},
            },
            "one",
        )
        assert owners(made)["one"] == {
            "f:metadata": {"f:finalizers": {".": {}, 'v:"a"': {}, 'v:"b"': {}}},
            "f:spec": {"f:nodeSelector": {}, "f:tolerations": {}},
        }

    def test_the_eleventh_updater_makes_the_oldest_ancient(self) -> None:
        live = stored(updated(None, config_map(k0="1"), "m0", T0))
        for number in range(1, 12):
            data = {**live["data"], f"k{number}": "1"}
            live = updated(live, edited(live, {"data": data}), f"m{number}", T0 + timedelta(seconds=number))
        entries = live["metadata"]["managedFields"]
        assert [entry["manager"] for entry in entries] == ["ancient-changes", *(f"m{n}" for n in range(3, 12))]
        assert entries[0]["fieldsV1"] == {"f:data": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}}}
        assert entries[0]["time"] == "2026-01-01T00:00:02Z"

    def test_custom_resources_without_a_schema_are_owned_by_what_they_hold(self) -> None:
        made = updated(
            None,
            {"apiVersion": "x/v1", "kind": "Any", "metadata": {"name": "a"}, "spec": {"m": {"k": 1}, "l": [{"a": 1}]}},
            "one",
        )
        assert owners(made)["one"]["f:spec"] == {".": {}, "f:l": {}, "f:m": {".": {}, "f:k": {}}}


class TestApply:
    def test_it_creates(self) -> None:
        made = applied(None, deployment(3, {"name": "a", "image": "x"}, labels={"app": "web"}), "me")
        assert made["spec"]["replicas"] == 3
        assert made["metadata"]["managedFields"] == [
            {
                "manager": "me",
                "operation": "Apply",
                "apiVersion": "apps/v1",
                "time": "2026-01-01T00:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:app": {}}},
                    "f:spec": {
                        "f:replicas": {},
                        "f:template": {
                            "f:spec": {
                                "f:containers": {'k:{"name":"a"}': {".": {}, "f:image": {}, "f:name": {}}},
                            }
                        },
                    },
                },
            }
        ]

    def test_one_conflict(self) -> None:
        live = stored(updated(None, deployment(3), "kubectl-client-side-apply"))
        with pytest.raises(ApiError) as caught:
            applied(live, deployment(5), "me")
        assert caught.value.status == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "Apply failed with 1 conflict: "
            'conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas',
            "reason": "Conflict",
            "details": {
                "causes": [
                    {
                        "reason": "FieldManagerConflict",
                        "message": 'conflict with "kubectl-client-side-apply" using apps/v1',
                        "field": ".spec.replicas",
                    }
                ]
            },
            "code": 409,
        }

    def test_several_conflicts(self) -> None:
        live = stored(applied(None, deployment(3), "a"))
        live = updated(
            live, edited(live, deployment(3, {"name": "c", "image": "x"}) | {"metadata": live["metadata"]}), "b"
        )
        with pytest.raises(ApiError) as caught:
            applied(live, deployment(5, {"name": "c", "image": "y"}), "me")
        assert caught.value.message == (
            "Apply failed with 2 conflicts: "
            'conflicts with "a":\n- .spec.replicas\n'
            'conflicts with "b" using apps/v1:\n- .spec.template.spec.containers[name="c"].image'
        )

    def test_the_same_value_is_shared(self) -> None:
        live = stored(applied(None, deployment(3), "a"))
        both = applied(live, deployment(3), "b")
        assert owners(both) == {"a": {"f:spec": {"f:replicas": {}}}, "b": {"f:spec": {"f:replicas": {}}}}

    def test_force_takes(self) -> None:
        live = stored(applied(None, deployment(3), "a"))
        assert owners(applied(live, deployment(5), "b", force=True)) == {"b": {"f:spec": {"f:replicas": {}}}}

    def test_what_is_given_up_goes_unless_another_owns_it(self) -> None:
        live = stored(applied(None, config_map(a="1", b="1", c="1"), "one"))
        live = applied(live, config_map(b="1"), "two")
        live = updated(live, edited(live, {"data": {**live["data"], "d": "1"}}), "three")
        after = applied(live, config_map(a="1"), "one")
        assert after["data"] == {"a": "1", "b": "1", "d": "1"}
        assert list(owners(after)) == ["one", "two", "three"]

    def test_an_element_that_is_given_up_goes_with_all_in_it(self) -> None:
        live = stored(applied(None, deployment(1, {"name": "a", "image": "x"}, {"name": "b", "image": "y"}), "one"))
        after = applied(live, deployment(1, {"name": "b", "image": "y"}), "one")
        assert after["spec"]["template"]["spec"]["containers"] == [{"name": "b", "image": "y"}]

    def test_a_struct_goes_when_nobody_owns_anything_in_it(self) -> None:
        config = deployment(1)
        config["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": 1}}
        live = stored(applied(None, config, "one"))
        live["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = "25%"  # a default, owned by nobody
        assert "strategy" not in applied(live, deployment(1), "one")["spec"]

    def test_again_is_nothing(self) -> None:
        live = stored(applied(None, deployment(3, labels={"a": "b"}), "one"))
        assert applied(live, deployment(3, labels={"a": "b"}), "one", now=LATER) is live

    def test_giving_up_a_shared_field_is_a_change_of_owners(self) -> None:
        live = stored(applied(applied(None, deployment(3), "a"), deployment(3), "b"))
        after = applied(live, deployment(), "b", now=LATER)
        assert after["spec"] == {"replicas": 3}
        assert owners(after) == {"a": {"f:spec": {"f:replicas": {}}}, "b": {"f:spec": {}}}

    def test_ports_find_each_other_by_the_default_protocol(self) -> None:
        service: Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
        live = stored(applied(None, {**service, "spec": {"ports": [{"port": 80, "protocol": "TCP"}]}}, "a"))
        after = applied(live, {**service, "spec": {"ports": [{"port": 80, "name": "http"}]}}, "b")
        assert after["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "http"}]
        assert owners(after)["b"]["f:spec"]["f:ports"] == {
            'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}, "f:port": {}}
        }

    def test_the_order_of_a_list_is_the_appliers(self) -> None:
        live = stored(applied(None, deployment(1, {"name": "a"}, {"name": "s"}, {"name": "b"}), "x"))
        after = applied(live, deployment(1, {"name": "b"}, {"name": "n"}, {"name": "a"}), "y")
        assert [c["name"] for c in after["spec"]["template"]["spec"]["containers"]] == ["s", "b", "n", "a"]

    def test_an_object_without_owners_belongs_to_before_first_apply(self) -> None:
        live = stored(deployment(3))
        assert owners(applied(live, deployment(3, labels={"a": "b"}), "me")) == {
            "before-first-apply": {"f:spec": {"f:replicas": {}}},
            "me": {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:replicas": {}}},
        }
        with pytest.raises(ApiError, match=r'conflict with "before-first-apply" using apps/v1: \.spec\.replicas'):
            applied(live, deployment(4), "me")

    def test_a_configuration_that_sets_nothing_has_no_entry(self) -> None:
        live = stored(updated(None, deployment(3), "a"))
        assert owners(applied(live, {k: v for k, v in deployment().items() if k != "spec"}, "b")) == owners(live)

    def test_status_is_left_alone_by_the_main_resource(self) -> None:
        live = stored({**updated(None, deployment(3), "a"), "status": {"replicas": 3}})
        after = applied(live, {**deployment(labels={"x": "y"}), "status": {"replicas": 9}}, "b")
        assert after["status"] == {"replicas": 3}
        assert "f:status" not in owners(after)["b"]

    def test_spec_is_left_alone_by_the_status_subresource(self) -> None:
        live = stored(updated(None, deployment(3), "a"))
        after = applied(live, {**deployment(9), "status": {"replicas": 3}}, "b", subresource="status")
        assert (after["spec"]["replicas"], after["status"]["replicas"]) == (3, 3)
        assert owners(after)["b"] == {"f:status": {"f:replicas": {}}}

    def test_kubectl_takes_over_what_client_side_apply_set(self) -> None:
        config = deployment(3, labels={"a": "b"})
        text = orjson.dumps(config).decode()
        live = deployment(3, labels={"a": "b"}, annotations={"kubectl.kubernetes.io/last-applied-configuration": text})
        live = stored(updated(None, live, "kubectl-client-side-apply"))
        after = applied(live, deployment(5, labels={"a": "b"}), "kubectl", now=LATER)
        assert after["spec"]["replicas"] == 5
        assert owners(after)["kubectl"]["f:spec"] == {"f:replicas": {}}
        annotation = after["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
        assert orjson.loads(annotation)["spec"] == {"replicas": 5}
        with pytest.raises(ApiError, match="Apply failed with 1 conflict"):
            applied(live, deployment(5), "argocd")

    def test_what_somebody_changed_since_client_side_apply_still_conflicts(self) -> None:
        text = orjson.dumps(deployment(3)).decode()
        live = deployment(3, annotations={"kubectl.kubernetes.io/last-applied-configuration": text})
        live = stored(updated(None, live, "kubectl-client-side-apply"))
        live = updated(live, edited(live, {"spec": {"replicas": 7}}), "hpa")
        with pytest.raises(ApiError, match=r'conflict with "hpa" using apps/v1: \.spec\.replicas'):
            applied(live, deployment(5), "kubectl")

    @pytest.mark.parametrize(
        ("config", "code", "message"),
        [
            pytest.param(
                {**config_map(), "apiVersion": "v2"},
                400,
                "Incorrect version specified in apply patch. Specified patch version: v2, expected: v1",
                id="version",
            ),
            pytest.param(
                {**config_map(), "metadata": {"name": "c", "managedFields": [{}]}},
                400,
                "metadata.managedFields must be nil",
                id="managedFields",
            ),
            pytest.param(
                {**config_map(), "foo": 1},
                500,
                f"{UNTYPED}: .foo: field not declared in schema",
                id="unknown field",
            ),
            pytest.param(
                {**config_map(), "data": 1, "immutable": "x"},
                500,
                f"{UNTYPED}: errors:\n  .data: expected map, got &{{1}}\n  .immutable: expected boolean, got &{{x}}",
                id="types",
            ),
        ],
    )
    def test_what_cannot_be_applied(self, config: Object, code: int, message: str) -> None:
        with pytest.raises(ApiError) as caught:
            apply(
                None,
                config,
                manager="me",
                force=False,
                now=T0,
                schema=CONFIG_MAP,
                api_version="v1",
            )
        assert (caught.value.code, caught.value.message) == (code, message)

    def test_elements_that_cannot_be_told_apart(self) -> None:
        twice = deployment(1, {"name": "a"}, {"name": "a"})
        with pytest.raises(ApiError, match=r'containers: duplicate entries for key \[name="a"\]'):
            applied(None, twice, "me")
        with pytest.raises(
            ApiError, match="containers: element 0: associative list with keys has an element that omits"
        ):
            applied(None, deployment(1, {"image": "a"}), "me")


NAMES = st.sampled_from("abcd")
CONTAINERS = st.dictionaries(
    NAMES, st.fixed_dictionaries({}, optional={"image": st.sampled_from("xy"), "tty": st.booleans()}), max_size=3
).map(lambda found: [{"name": name, **fields} for name, fields in found.items()])
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.dictionaries(NAMES, st.sampled_from("12"), min_size=1, max_size=3),
        "finalizers": st.lists(NAMES, unique=True, min_size=1, max_size=3),
    },
)
CONFIGS = st.builds(
    lambda replicas, containers, metadata: deployment(replicas, *containers, **metadata),
    st.none() | st.integers(1, 3),
    CONTAINERS,
    METADATA,
)


@given(CONFIGS, CONFIGS)
def test_applying_twice_is_a_no_op(base: Object, config: Object) -> None:
    live = stored(updated(None, base, "other"))
    once = applied(live, config, "me", force=True)
    assert applied(once, config, "me", now=LATER) is once
    assert applied(once, config, "me", force=True, now=LATER) is once


@given(CONFIGS, CONFIGS)
def test_nothing_given_is_changed(base: Object, config: Object) -> None:
    live = stored(applied(None, base, "other"))
    before = copy.deepcopy((live, config))
    applied(live, config, "me", force=True)
    updated(live, edited(live, config), "me")
    assert (live, config) == before


def keyed(prefix: str) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(NAMES.map(lambda name: prefix + name), st.sampled_from("12"), min_size=1, max_size=3)


@given(keyed("l-"), keyed("r-"), keyed("b-"))
def test_disjoint_managers_commute_and_never_conflict(
    left: dict[str, str], right: dict[str, str], base: dict[str, str]
) -> None:
    live = stored(updated(None, config_map(**base), "base"))
    one = applied(applied(live, config_map(**left), "l"), config_map(**right), "r")
    other = applied(applied(live, config_map(**right), "r"), config_map(**left), "l")
    assert one["data"] == other["data"] == {**base, **left, **right}
    assert owners(one) == owners(other)


@given(CONFIGS, CONFIGS)
def test_giving_all_up_leaves_what_the_other_applied(mine: Object, theirs: Object) -> None:
    both = applied(stored(applied(None, theirs, "them")), mine, "me", force=True)
    after = applied(both, deployment(), "me")
    left = owners(both).get("them", {})
    assert owners(after).get("them", {}) == left
    for step in left.get("f:metadata", {}).get("f:labels", {}):
        assert after["metadata"]["labels"][step[2:]] == theirs["metadata"]["labels"][step[2:]]
    containers = after["spec"].get("template", {}).get("spec", {}).get("containers", [])
    names = left.get("f:spec", {}).get("f:template", {}).get("f:spec", {}).get("f:containers", {})
    assert sorted(f'k:{{"name":"{container["name"]}"}}' for container in containers) == sorted(names)


def owned_leaves(fields: Any, path: str = "") -> set[str]:
    if not fields:
        return {path}
    return {leaf for step, node in fields.items() if step != "." for leaf in owned_leaves(node, f"{path}/{step}")}


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.sampled_from(["m1", "m2", "m3"]), st.dictionaries(NAMES, st.sampled_from("12"))), max_size=6)
)
def test_managed_fields_cover_exactly_what_is_set(writes: list[tuple[str, dict[str, str]]]) -> None:
    live = stored(updated(None, {**config_map(), "immutable": False}, "m0"))
    for manager, data in writes:
        live = updated(live, edited(live, {"data": data}), manager)
    covered: set[str] = set()
    for fields in owners(live).values():
        leaves = owned_leaves({step: node for step, node in fields.get("f:data", {}).items() if step != "."}, "")
        assert not covered & leaves - {""}, "an update owns alone"
        covered |= leaves
    assert covered - {""} == {f"/f:{key}" for key in live["data"]}
