"""Server-side apply, through the function that the server calls."""

from __future__ import annotations

import orjson
import pytest

from engine.api.apply import apply, track_update
from engine.api.apply.scale_owners import owners_with_scale
from engine.api.errors import ApiError
from engine.api.schema import load_definitions
from engine.api.types import GVK, Object
from tests.api.ownership import CONFIG_MAP, LATER, T0, applied, config_map, deployment, edited, owners, stored, updated

UNTYPED = "failed to create typed patch object (default/c; /v1, Kind=ConfigMap)"


def test_it_creates() -> None:
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


def test_one_conflict() -> None:
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


def test_several_conflicts() -> None:
    live = stored(applied(None, deployment(3), "a"))
    live = updated(live, edited(live, deployment(3, {"name": "c", "image": "x"}) | {"metadata": live["metadata"]}), "b")
    with pytest.raises(ApiError) as caught:
        applied(live, deployment(5, {"name": "c", "image": "y"}), "me")
    assert caught.value.message == (
        "Apply failed with 2 conflicts: "
        'conflicts with "a":\n- .spec.replicas\n'
        'conflicts with "b" using apps/v1:\n- .spec.template.spec.containers[name="c"].image'
    )


def test_conflicts_stand_in_the_order_of_what_managers_are_known_by() -> None:
    live = stored(updated(None, config_map(a="1", b="1", c="1"), "x"))
    for key, manager in (("a", "a"), ("b", 'a "b"')):
        live = updated(live, edited(live, {"data": {**live["data"], key: "2"}}), manager)
    with pytest.raises(ApiError) as caught:
        applied(live, config_map(a="3", b="3", c="3"), "me")
    assert caught.value.message == (
        "Apply failed with 3 conflicts: "
        'conflicts with "a \\"b\\"" using v1:\n- .data.b\n'
        'conflicts with "a" using v1:\n- .data.a\n'
        'conflicts with "x" using v1:\n- .data.c'
    )


def test_the_same_value_is_shared() -> None:
    live = stored(applied(None, deployment(3), "a"))
    both = applied(live, deployment(3), "b")
    assert owners(both) == {"a": {"f:spec": {"f:replicas": {}}}, "b": {"f:spec": {"f:replicas": {}}}}


def test_force_takes() -> None:
    live = stored(applied(None, deployment(3), "a"))
    assert owners(applied(live, deployment(5), "b", force=True)) == {"b": {"f:spec": {"f:replicas": {}}}}


def test_what_is_given_up_goes_unless_another_owns_it() -> None:
    live = stored(applied(None, config_map(a="1", b="1", c="1"), "one"))
    live = applied(live, config_map(b="1"), "two")
    live = updated(live, edited(live, {"data": {**live["data"], "d": "1"}}), "three")
    after = applied(live, config_map(a="1"), "one")
    assert after["data"] == {"a": "1", "b": "1", "d": "1"}
    assert sorted(owners(after)) == ["one", "three", "two"]


def test_an_element_that_is_given_up_goes_with_all_in_it() -> None:
    live = stored(applied(None, deployment(1, {"name": "a", "image": "x"}, {"name": "b", "image": "y"}), "one"))
    after = applied(live, deployment(1, {"name": "b", "image": "y"}), "one")
    assert after["spec"]["template"]["spec"]["containers"] == [{"name": "b", "image": "y"}]


def test_a_struct_goes_when_nobody_owns_anything_in_it() -> None:
    config = deployment(1)
    config["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": 1}}
    live = stored(applied(None, config, "one"))
    live["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = "25%"  # a default, owned by nobody
    assert "strategy" not in applied(live, deployment(1), "one")["spec"]


def test_again_is_nothing() -> None:
    live = stored(applied(None, deployment(3, labels={"a": "b"}), "one"))
    assert applied(live, deployment(3, labels={"a": "b"}), "one", now=LATER) is live


def test_giving_up_a_shared_field_is_a_change_of_owners() -> None:
    live = stored(applied(applied(None, deployment(3), "a"), deployment(3), "b"))
    after = applied(live, deployment(), "b", now=LATER)
    assert after["spec"] == {"replicas": 3}
    assert owners(after) == {"a": {"f:spec": {"f:replicas": {}}}, "b": {"f:spec": {}}}


def test_ports_find_each_other_by_the_default_protocol() -> None:
    service: Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    live = stored(applied(None, {**service, "spec": {"ports": [{"port": 80, "protocol": "TCP"}]}}, "a"))
    after = applied(live, {**service, "spec": {"ports": [{"port": 80, "name": "http"}]}}, "b")
    assert after["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "http"}]
    assert owners(after)["b"]["f:spec"]["f:ports"] == {
        'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}, "f:port": {}}
    }


def test_the_order_of_a_list_is_the_appliers() -> None:
    live = stored(applied(None, deployment(1, {"name": "a"}, {"name": "s"}, {"name": "b"}), "x"))
    after = applied(live, deployment(1, {"name": "b"}, {"name": "n"}, {"name": "a"}), "y")
    assert [c["name"] for c in after["spec"]["template"]["spec"]["containers"]] == ["s", "b", "n", "a"]


def test_an_object_without_owners_belongs_to_before_first_apply() -> None:
    live = stored(deployment(3))
    assert owners(applied(live, deployment(3, labels={"a": "b"}), "me")) == {
        "before-first-apply": {"f:spec": {"f:replicas": {}}},
        "me": {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:replicas": {}}},
    }
    with pytest.raises(ApiError, match=r'conflict with "before-first-apply" using apps/v1: \.spec\.replicas'):
        applied(live, deployment(4), "me")


def test_a_configuration_that_sets_nothing_has_no_entry() -> None:
    live = stored(updated(None, deployment(3), "a"))
    assert owners(applied(live, {k: v for k, v in deployment().items() if k != "spec"}, "b")) == owners(live)


def test_a_configuration_that_sets_nothing_makes_known_what_was_there_before() -> None:
    live = stored(deployment(3))
    after = applied(live, {k: v for k, v in deployment().items() if k != "spec"}, "b")
    assert list(owners(after)) == ["before-first-apply"]


def test_status_is_left_alone_by_the_main_resource() -> None:
    live = stored({**updated(None, deployment(3), "a"), "status": {"replicas": 3}})
    after = applied(live, {**deployment(labels={"x": "y"}), "status": {"replicas": 9}}, "b")
    assert after["status"] == {"replicas": 3}
    assert "f:status" not in owners(after)["b"]


def test_spec_is_left_alone_by_the_status_subresource() -> None:
    live = stored(updated(None, deployment(3), "a"))
    after = applied(live, {**deployment(9), "status": {"replicas": 3}}, "b", subresource="status")
    assert (after["spec"]["replicas"], after["status"]["replicas"]) == (3, 3)
    assert owners(after)["b"] == {"f:status": {"f:replicas": {}}}


def test_kubectl_takes_over_what_client_side_apply_set() -> None:
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


ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.mark.parametrize(
    ("before", "config", "after"),
    [
        pytest.param(
            "x", config_map(a="<&>\u2028"),
            '{"apiVersion":"v1","data":{"a":"\\u003c\\u0026\\u003e\\u2028"},"kind":"ConfigMap","metadata":{"name":"c",'
            '"namespace":"default"}}\n',
            id="as Go writes it",
        ),
        pytest.param(
            "x", {**config_map(), "metadata": {"name": "c", "annotations": {ANNOTATION: "y"}}},
            '{"apiVersion":"v1","data":{},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c"}}\n',
            id="without itself",
        ),
        pytest.param("", config_map(a="1"), "", id="an empty one is not kept up to date"),
        pytest.param("x", config_map(a="1" * 300_000), None, id="what has no room goes"),
    ],
)  # fmt: skip
def test_the_annotation_of_client_side_apply(before: str, config: Object, after: str | None) -> None:
    live = config_map()
    live["metadata"]["annotations"] = {ANNOTATION: before}
    result = applied(stored(updated(None, live, "kubectl-client-side-apply")), config, "kubectl", force=True)
    assert result["metadata"]["annotations"].get(ANNOTATION) == after


@pytest.mark.parametrize("change", [{"kind": ""}, {"spec": {"replicas": 3, "wat": 1}}, {"spec": "x"}])
def test_an_annotation_that_is_no_such_object_allows_nothing(change: Object) -> None:
    text = orjson.dumps({**deployment(3), **change}).decode()
    live = deployment(3, annotations={"kubectl.kubernetes.io/last-applied-configuration": text})
    live = stored(updated(None, live, "kubectl-client-side-apply"))
    with pytest.raises(ApiError, match=r"Apply failed with 1 conflict"):
        applied(live, deployment(5), "kubectl")


def test_what_somebody_changed_since_client_side_apply_still_conflicts() -> None:
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
def test_what_cannot_be_applied(config: Object, code: int, message: str) -> None:
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


POD_SPEC: dict[str, tuple[Object, str]] = {
    "a field of an atomic map": (
        {"nodeSelector": {"a": 1}},
        ".spec.nodeSelector.a: expected string, got &value.valueUnstructured{Value:1}",
    ),
    "fields in atomic lists": (
        {"tolerations": [{"key": "a"}, {"wat": 1}, "x"]},
        "errors:\n  .spec.tolerations[1].wat: field not declared in schema\n"
        "  .spec.tolerations[2]: expected map, got &{x}",
    ),
    "an atomic list that is none": ({"tolerations": {"a": "b"}}, ".spec.tolerations: expected list, got &{map[a:b]}"),
    "a field of an atomic struct": (
        {
            "topologySpreadConstraints": [
                {"topologyKey": "a", "whenUnsatisfiable": "b", "labelSelector": {"matchLabel": {}}}
            ]
        },
        '.spec.topologySpreadConstraints[topologyKey="a",whenUnsatisfiable="b"].labelSelector.matchLabel: field not '
        "declared in schema",
    ),
    "nulls within a value": (
        {"nodeName": [None, {"a": None}]},
        ".spec.nodeName: expected string, got &value.valueUnstructured{Value:[]interface {}{interface {}(nil), "
        'map[string]interface {}{"a":interface {}(nil)}}}',
    ),
    "a map for a quantity": (
        {"overhead": {"cpu": {"a": 1}}},
        ".spec.overhead.cpu: expected any scalar, got &{map[a:1]}",
    ),
    "a key that is null": (
        {"imagePullSecrets": [{"name": None}, {"name": None}]},
        ".spec.imagePullSecrets: duplicate entries for key [name=null]",
    ),
}


@pytest.mark.parametrize("name", POD_SPEC)
def test_a_pod_that_cannot_be_applied(name: str) -> None:
    spec, text = POD_SPEC[name]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    with pytest.raises(ApiError) as caught:
        applied(None, pod, "me")
    assert caught.value.message == f"failed to create typed patch object (/p; /v1, Kind=Pod): {text}"


def test_elements_that_cannot_be_told_apart() -> None:
    twice = deployment(1, {"name": "a"}, {"name": "a"})
    with pytest.raises(ApiError, match=r'containers: duplicate entries for key \[name="a"\]'):
        applied(None, twice, "me")
    nameless = deployment(1, {"image": "a"})  # a key that Go never leaves out is empty
    assert owners(applied(None, nameless, "me"))["me"]["f:spec"]["f:template"]["f:spec"]["f:containers"] == {
        'k:{"name":""}': {".": {}, "f:image": {}}
    }
    with pytest.raises(ApiError, match=r'containers: duplicate entries for key \[name=""\]'):
        applied(None, deployment(1, {"image": "a"}, {"image": "b"}), "me")


ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"namespace": "b"}]}
WITHOUT_KEYS = {
    "1.37": 'an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    "1.33": 'an element that omits key field "name" (and doesn\'t have default value)',
}


@pytest.mark.parametrize("version", WITHOUT_KEYS)
def test_an_element_without_a_key_cannot_be_applied(version: str) -> None:
    schema = load_definitions(version).kind(GVK("", "v1", "ServiceAccount"))
    with pytest.raises(ApiError) as caught:
        apply(None, ACCOUNT, manager="me", force=False, now=T0, schema=schema, api_version="v1")
    assert caught.value.message == (
        "failed to create typed patch object (/a; /v1, Kind=ServiceAccount): .secrets: element 0: associative list "
        f"with keys has {WITHOUT_KEYS[version]}"
    )


def test_an_element_without_a_key_that_is_stored_keeps_everybody_from_owning_anything() -> None:
    schema = load_definitions().kind(GVK("", "v1", "ServiceAccount"))
    made = track_update(None, ACCOUNT, manager="me", now=T0, schema=schema, api_version="v1")
    assert "managedFields" not in made["metadata"]
    config = {**ACCOUNT, "secrets": [{"name": "b"}]}
    with pytest.raises(ApiError) as caught:
        apply(stored(made), config, manager="me", force=False, now=T0, schema=schema, api_version="v1")
    assert caught.value.message == (
        "failed to create manager for existing fields: failed to convert new object (/a; /v1, Kind=ServiceAccount) to "
        f"smd typed: .secrets: element 0: associative list with keys has {WITHOUT_KEYS['1.37']}"
    )
    entry = {
        "manager": "m",
        "operation": "Apply",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:a": {}},
    }
    owned = {**ACCOUNT, "metadata": {"name": "a", "managedFields": [entry]}}
    text = r"^failed to create typed live object \(/a; /v1, Kind=ServiceAccount\): \.secrets: element 0: "
    with pytest.raises(ApiError, match=text):
        apply(owned, config, manager="me", force=False, now=T0, schema=schema, api_version="v1")


def test_who_owns_nothing_goes_with_the_next_apply() -> None:
    live = stored(applied(None, config_map(a="1"), "one"))
    entry = {**live["metadata"]["managedFields"][0], "manager": "nobody", "fieldsV1": {}}
    live["metadata"]["managedFields"].append(entry)
    assert set(owners(applied(live, config_map(a="1"), "two"))) == {"one", "two"}


def test_what_is_applied_of_the_status_changes_nothing_but_counts_as_a_change() -> None:
    made = stored(applied(None, deployment(1), "one"))
    shared = stored(applied(made, deployment(1), "two", now=LATER))
    assert [entry.get("time") for entry in shared["metadata"]["managedFields"]] == [None, "2026-01-01T00:00:00Z"]
    other = applied(made, deployment(1) | {"status": {"replicas": 1}}, "two", now=LATER)
    assert [entry.get("time") for entry in other["metadata"]["managedFields"]] == [
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:01:00Z",
    ]
    assert "status" not in other


def test_who_owned_something_else_through_the_scale_owns_the_replicas_alone() -> None:
    entry = {
        "manager": "a",
        "operation": "Apply",
        "apiVersion": "apps/v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {}}},
        "subresource": "scale",
    }
    scaled = {**entry, "apiVersion": "autoscaling/v1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    after = owners_with_scale([entry], [scaled], lambda _: ("spec", "replicas"), "apps/v1")
    assert after == [{**entry, "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
