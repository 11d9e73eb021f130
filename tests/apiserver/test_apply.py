"""Server-side apply end to end, as kubernetes' own integration tests walk it (test/integration/apiserver/apply)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, GVR, PODS, SERVICES, Object, copy_object
from engine.api.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from engine.client import Client
from tests.apiserver.conftest import config_map, pod
from tests.apiserver.test_create import deployment

STATEFUL_SETS = GVR("apps", "v1", "statefulsets")
REPLICA_SETS = GVR("apps", "v1", "replicasets")
REPLICATION_CONTROLLERS = GVR("", "v1", "replicationcontrollers")
NODES = GVR("", "v1", "nodes")
FLOW_SCHEMAS = GVR("flowcontrol.apiserver.k8s.io", "v1", "flowschemas")


async def apply(client: Client, gvr: GVR, obj: Object, manager: str, **options: Any) -> Object:
    namespace = None if gvr in (NODES, FLOW_SCHEMAS) else "default"
    return await client.patch(
        gvr,
        obj["metadata"]["name"],
        obj,
        namespace=namespace,
        content_type=APPLY_PATCH,
        field_manager=manager,
        **options,
    )


def entries(obj: Object) -> list[tuple[str, str, str, str]]:
    """Of every entry the manager, the operation, the version and the subresource."""
    return [
        (entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource", ""))
        for entry in obj["metadata"].get("managedFields", ())
    ]


def fields_of(obj: Object, manager: str) -> Object:
    [found] = [entry["fieldsV1"] for entry in obj["metadata"]["managedFields"] if entry["manager"] == manager]
    return dict(found)


def cm(**data: str) -> Object:
    return config_map("web") | {"data": data}


# -- what can be applied


async def test_a_uid_is_for_what_exists(client: Client) -> None:
    sent = cm(a="1")
    sent["metadata"]["uid"] = "88e00824-7f0e-11e8-94a1-c8d3ffb15800"
    with pytest.raises(ApiError) as caught:
        await apply(client, CONFIGMAPS, sent, "me")
    assert (caught.value.code, caught.value.message) == (
        409,
        'Operation cannot be fulfilled on configmaps "web": uid mismatch: the provided object specified uid '
        "88e00824-7f0e-11e8-94a1-c8d3ffb15800, and no existing object was found",
    )


async def test_a_manager_is_needed(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await apply(client, CONFIGMAPS, cm(a="1"), "")
    assert caught.value.message == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )


@pytest.mark.parametrize("sent", [[], [{}], [{"manager": "x"}]])
async def test_owners_cannot_be_applied(client: Client, sent: list[Object]) -> None:
    obj = cm(a="1")
    obj["metadata"]["managedFields"] = sent
    with pytest.raises(ApiError) as caught:
        await apply(client, CONFIGMAPS, obj, "me")
    assert (caught.value.code, caught.value.message) == (400, "metadata.managedFields must be nil")


async def test_another_version_is_refused(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await apply(client, DEPLOYMENTS, {**deployment(), "apiVersion": "extensions/v1beta1"}, "me")
    assert (caught.value.code, caught.value.message) == (
        400,
        "invalid object type: extensions/v1beta1, Kind=Deployment",
    )


async def test_what_sets_nothing_has_no_owner(client: Client) -> None:
    sent = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "default"}}
    assert entries(await apply(client, CONFIGMAPS, sent, "me")) == []
    assert entries(await apply(client, CONFIGMAPS, sent, "me")) == []


async def test_an_apply_for_another_version_of_the_object_is_a_conflict(client: Client) -> None:
    first = await apply(client, CONFIGMAPS, cm(a="1"), "me")
    sent = cm(a="2")
    sent["metadata"]["resourceVersion"] = first["metadata"]["resourceVersion"]
    second = await apply(client, CONFIGMAPS, sent, "me")
    assert second["data"] == {"a": "2"}
    with pytest.raises(ApiError, match="the object has been modified"):
        await apply(client, CONFIGMAPS, {**sent, "data": {"a": "3"}}, "me")


# -- who owns what


async def test_a_second_applier_of_the_same_shares_it_and_has_no_time(client: Client) -> None:
    first = await apply(client, CONFIGMAPS, cm(a="1"), "one")
    second = await apply(client, CONFIGMAPS, cm(a="1"), "two")
    times = {entry["manager"]: "time" in entry for entry in second["metadata"]["managedFields"]}
    assert times == {"one": True, "two": False}
    assert fields_of(second, "two") == fields_of(first, "one") == {"f:data": {"f:a": {}}}


async def test_a_port_that_is_left_out_goes(client: Client) -> None:
    service: Object = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {
            "selector": {"app": "web"},
            "ports": [{"name": "t", "port": 53, "protocol": "TCP"}, {"name": "u", "port": 53, "protocol": "UDP"}],
        },
    }  # fmt: skip
    made = await apply(client, SERVICES, service, "me")
    assert [port["protocol"] for port in made["spec"]["ports"]] == ["TCP", "UDP"]
    service["spec"]["ports"] = [{"name": "u", "port": 53, "protocol": "UDP"}]
    left = await apply(client, SERVICES, service, "me")
    assert [port["protocol"] for port in left["spec"]["ports"]] == ["UDP"]


async def test_ports_without_a_protocol_are_of_tcp(client: Client) -> None:
    sent = deployment()
    [container] = sent["spec"]["template"]["spec"]["containers"]
    container["ports"] = [{"containerPort": 80, "name": "a"}, {"containerPort": 80, "protocol": "UDP"}]
    made = await apply(client, DEPLOYMENTS, sent, "me")
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert [port["protocol"] for port in container["ports"]] == ["TCP", "UDP"]
    container = copy_object(sent)["spec"]["template"]["spec"]["containers"][0]
    sent["spec"]["template"]["spec"]["containers"] = [{**container, "ports": [{"containerPort": 80, "name": "b"}]}]
    with pytest.raises(ApiError) as caught:
        await apply(client, DEPLOYMENTS, sent, "you")
    assert caught.value.message == (
        'Apply failed with 1 conflict: conflict with "me": '
        f'.spec.template.spec.containers[name="{container["name"]}"].ports[containerPort=80,protocol="TCP"].name'
    )


async def test_ports_that_are_there_twice(client: Client) -> None:
    """Issue 113482: they can be created, keep their owner, survive applies of other things, but cannot be applied."""
    sent = deployment()
    [container] = sent["spec"]["template"]["spec"]["containers"]
    container["ports"] = [{"containerPort": 93, "name": "p"}, {"containerPort": 93, "name": "q"}]
    name = container["name"]
    with pytest.raises(ApiError) as caught:
        await apply(client, DEPLOYMENTS, sent, "me")
    assert caught.value.message == (
        "failed to create typed patch object (/web; apps/v1, Kind=Deployment): "
        f'.spec.template.spec.containers[name="{name}"].ports: '
        'duplicate entries for key [containerPort=93,protocol="TCP"]'
    )
    made = await client.create(DEPLOYMENTS, sent, namespace="default", field_manager="you")
    of_ports = fields_of(made, "you")["f:spec"]["f:template"]["f:spec"]["f:containers"][f'k:{{"name":"{name}"}}']
    assert of_ports["f:ports"] == {".": {}, 'k:{"containerPort":93,"protocol":"TCP"}': {}}
    labelled = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"x": "y"}}}
    after = await apply(client, DEPLOYMENTS, labelled, "me")
    assert len(after["spec"]["template"]["spec"]["containers"][0]["ports"]) == 2
    labelled["spec"] = {"template": {"spec": {"containers": [{"name": name, "ports": [{"containerPort": 93}]}]}}}
    after = await apply(client, DEPLOYMENTS, labelled, "me", force=True)
    assert after["spec"]["template"]["spec"]["containers"][0]["ports"] == [{"containerPort": 93, "protocol": "TCP"}]


async def test_a_map_loses_its_last_key_but_not_its_owner(client: Client) -> None:
    made = await client.create(CONFIGMAPS, cm(a="1"), namespace="default", field_manager="one")
    assert fields_of(made, "one") == {"f:data": {".": {}, "f:a": {}}}
    await apply(client, CONFIGMAPS, cm(a="2"), "two", force=True)
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}
    after = await apply(client, CONFIGMAPS, bare, "two")
    assert "data" not in after
    assert [entry["fieldsV1"] for entry in after["metadata"]["managedFields"]] == [{"f:data": {}}]


async def test_null_is_a_value_that_conflicts(client: Client) -> None:
    await client.create(DEPLOYMENTS, deployment(replicas=3), namespace="default", field_manager="one")
    nulled = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": None}}
    with pytest.raises(ApiError, match=r'conflict with "one" using apps/v1: \.spec\.replicas'):
        await apply(client, DEPLOYMENTS, nulled, "two")
    after = await apply(client, DEPLOYMENTS, nulled, "two", force=True)
    assert after["spec"]["replicas"] == 1
    assert fields_of(after, "two") == {"f:spec": {"f:replicas": {}}}


async def test_owners_in_versions_that_are_gone_go_with_the_next_write(client: Client) -> None:
    sent = deployment()
    sent["metadata"]["managedFields"] = [
        {
            "manager": "sidecar", "operation": "Apply", "apiVersion": "extensions/v1beta1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:old": {}}}},
        }
    ]  # fmt: skip
    made = await client.create(DEPLOYMENTS, sent, namespace="default", field_manager="one")
    assert entries(made) == [("one", "Update", "apps/v1", "")]
    sent["metadata"]["managedFields"][0]["apiVersion"] = "apps/v1"
    sent["metadata"]["name"] = "other"
    made = await client.create(DEPLOYMENTS, sent, namespace="default", field_manager="one")
    assert entries(made) == [("sidecar", "Apply", "apps/v1", ""), ("one", "Update", "apps/v1", "")]


# -- versions

SCALERS = GVR("autoscaling", "v2", "horizontalpodautoscalers")
OLD_SCALERS = GVR("autoscaling", "v1", "horizontalpodautoscalers")


def scaler(api_version: str, **spec: Any) -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "apiVersion": api_version,
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": target, **spec},
    }


def new_scaler(utilization: int | None) -> Object:
    if utilization is None:
        return scaler("autoscaling/v2")
    target = {"type": "Utilization", "averageUtilization": utilization}
    return scaler("autoscaling/v2", metrics=[{"type": "Resource", "resource": {"name": "cpu", "target": target}}])


def old_scaler(utilization: int) -> Object:
    return scaler("autoscaling/v1", targetCPUUtilizationPercentage=utilization)


async def test_owners_in_another_version_own_what_their_fields_are_in_it(client: Client) -> None:
    await apply(client, SCALERS, new_scaler(50), "new")
    assert entries(await apply(client, OLD_SCALERS, old_scaler(50), "old")) == [
        ("old", "Apply", "autoscaling/v1", ""), ("new", "Apply", "autoscaling/v2", ""),
    ]  # fmt: skip
    with pytest.raises(ApiError) as caught:
        await apply(client, OLD_SCALERS, old_scaler(60), "old")
    assert caught.value.message == 'Apply failed with 1 conflict: conflict with "new": .spec.metrics'
    after = await apply(client, OLD_SCALERS, old_scaler(60), "old", force=True)
    assert after["spec"]["targetCPUUtilizationPercentage"] == 60
    assert "f:metrics" not in fields_of(after, "new")["f:spec"]
    with pytest.raises(ApiError) as caught:
        await apply(client, SCALERS, new_scaler(70), "new")
    assert caught.value.message == (
        'Apply failed with 1 conflict: conflict with "old": .spec.targetCPUUtilizationPercentage'
    )
    await client.patch(
        SCALERS,
        "web",
        {"spec": new_scaler(80)["spec"]},
        namespace="default",
        content_type=MERGE_PATCH,
        field_manager="updater",
    )
    found = await client.get(OLD_SCALERS, "web", namespace="default")
    assert "f:targetCPUUtilizationPercentage" not in fields_of(found, "old")["f:spec"]


async def test_what_was_applied_in_another_version_is_given_up_in_this_one(client: Client) -> None:
    await apply(client, OLD_SCALERS, old_scaler(50), "me")
    kept = await apply(client, SCALERS, new_scaler(50), "other")
    assert kept["spec"]["metrics"]
    shared = await apply(client, SCALERS, new_scaler(None), "me")
    assert shared["spec"]["metrics"] == kept["spec"]["metrics"]
    assert ("me", "Apply", "autoscaling/v2", "") in entries(shared)
    await apply(client, OLD_SCALERS, old_scaler(50), "me")
    await apply(client, SCALERS, new_scaler(None), "other")
    left = await apply(client, SCALERS, new_scaler(None), "me")
    # v1 without a percentage has 80 in v2: there are metrics on both sides, so nothing seems to be gone. As upstream.
    [metric] = left["spec"]["metrics"]
    assert metric["resource"]["target"]["averageUtilization"] == 50
    assert "f:metrics" not in fields_of(left, "me")["f:spec"]


# -- owners that a client sends


RESETS: dict[str, tuple[str, Any]] = {
    "merge, an empty entry": (MERGE_PATCH, {"metadata": {"managedFields": [{}]}}),
    "merge, an empty list": (MERGE_PATCH, {"metadata": {"managedFields": []}}),
    "strategic, an empty entry": (STRATEGIC_PATCH, {"metadata": {"managedFields": [{}]}}),
    "JSON, an empty entry": (JSON_PATCH, [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]),
    "JSON, an empty list": (JSON_PATCH, [{"op": "replace", "path": "/metadata/managedFields", "value": []}]),
}


@pytest.mark.parametrize("name", RESETS)
async def test_a_patch_that_forgets_all_owners(client: Client, name: str) -> None:
    content_type, patch = RESETS[name]
    await apply(client, CONFIGMAPS, cm(a="1"), "me")
    after = await client.patch(CONFIGMAPS, "web", patch, namespace="default", content_type=content_type)
    assert "managedFields" not in after["metadata"]
    assert "managedFields" not in (await client.get(CONFIGMAPS, "web", namespace="default"))["metadata"]


@pytest.mark.parametrize(("sent", "kept"), [([{}], False), ([], False), (None, True)])
async def test_an_update_that_forgets_all_owners(client: Client, sent: Any, kept: bool) -> None:
    await apply(client, CONFIGMAPS, cm(a="1"), "me")
    update = cm(a="1")
    update["metadata"] |= {"managedFields": sent, "namespace": "default"}
    after = await client.update(CONFIGMAPS, update)
    assert ("managedFields" in after["metadata"]) is kept


async def test_broken_owners_fail_no_write(client: Client) -> None:
    broken = [
        {"manager": "x", "operation": "Apply", "apiVersion": "v1", "time": "2019-07-08T09:31:18Z",
         "fieldsType": "FieldsV1", "fieldsV1": {"this": "is broken"}},
        {"manager": "x", "operation": "Other", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}},
    ]  # fmt: skip
    for number, entry in enumerate(broken):
        sent = cm(a="1")
        sent["metadata"] |= {"name": f"c{number}", "managedFields": [entry]}
        made = await client.create(CONFIGMAPS, sent, namespace="default", field_manager="me")
        assert entries(made) == [("me", "Update", "v1", "")]
        patch = {"metadata": {"managedFields": [entry], "labels": {"a": "b"}}}
        after = await client.patch(
            CONFIGMAPS, f"c{number}", patch, namespace="default", content_type=MERGE_PATCH, field_manager="me"
        )
        assert entries(after) == [("me", "Update", "v1", "")]


async def test_owners_cannot_be_sent_through_a_subresource(client: Client, default_account: Object) -> None:
    made = await client.create(PODS, pod(), namespace="default", field_manager="me")
    attempts: list[list[Object]] = [[{}], [], [{**made["metadata"]["managedFields"][0], "manager": "changed"}]]
    for attempt in attempts:
        patch = {"metadata": {"managedFields": attempt}}
        after = await client.patch(
            PODS, "web", patch, namespace="default", subresource="status", content_type=MERGE_PATCH
        )
        assert after["metadata"]["managedFields"] == made["metadata"]["managedFields"]


# -- writes that change nothing


async def test_what_changes_nothing_is_not_written(client: Client) -> None:
    made = await apply(client, DEPLOYMENTS, deployment(replicas=2), "one")
    again = await apply(client, DEPLOYMENTS, deployment(replicas=2), "one")
    assert again == made
    patched = await client.patch(DEPLOYMENTS, "web", {}, namespace="default", field_manager="two")
    assert patched == made
    assert await client.update(DEPLOYMENTS, made, field_manager="two") == made
    bare = copy_object(made)
    del bare["metadata"]["managedFields"]
    assert await client.update(DEPLOYMENTS, bare, field_manager="two") == made


# -- scale


def controller(gvr: GVR) -> Object:
    kinds = {
        "deployments": "Deployment",
        "statefulsets": "StatefulSet",
        "replicasets": "ReplicaSet",
        "replicationcontrollers": "ReplicationController",
    }
    sent = {**deployment(), "apiVersion": gvr.api_version, "kind": kinds[gvr.resource]}
    sent["spec"] = {**sent["spec"], "replicas": 1}
    if gvr == REPLICATION_CONTROLLERS:
        sent["spec"]["selector"] = sent["spec"]["selector"]["matchLabels"]
    return sent


def scale(replicas: int) -> Object:
    metadata = {"name": "web", "namespace": "default"}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas}}


@pytest.mark.parametrize("gvr", [DEPLOYMENTS, STATEFUL_SETS, REPLICA_SETS, REPLICATION_CONTROLLERS], ids=str)
async def test_who_owns_the_replicas_of_what_is_scaled(client: Client, gvr: GVR) -> None:
    async def owners(replicas: int) -> list[str]:
        found = await client.get(gvr, "web", namespace="default")
        assert found["spec"]["replicas"] == replicas
        return [
            entry["manager"]
            for entry in found["metadata"]["managedFields"]
            if "f:replicas" in entry["fieldsV1"].get("f:spec", {})
        ]

    async def scaled(replicas: int, manager: str) -> None:
        patch = {"spec": {"replicas": replicas}}
        await client.patch(
            gvr,
            "web",
            patch,
            namespace="default",
            subresource="scale",
            content_type=MERGE_PATCH,
            field_manager=manager,
        )

    await apply(client, gvr, controller(gvr), "applier")
    assert await owners(1) == ["applier"]
    await scaled(5, "scaler")
    assert await owners(5) == ["scaler"]
    found = await client.get(gvr, "web", namespace="default")
    [entry] = [each for each in found["metadata"]["managedFields"] if each["manager"] == "scaler"]
    assert entry == {
        "manager": "scaler",
        "operation": "Update",
        "apiVersion": gvr.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
        "subresource": "scale",
    }
    with pytest.raises(ApiError) as caught:
        await apply(client, gvr, controller(gvr), "applier")
    assert caught.value.message == (
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" '
        f"using {gvr.api_version}: .spec.replicas"
    )
    await apply(client, gvr, controller(gvr), "applier", force=True)
    assert await owners(1) == ["applier"]
    with pytest.raises(ApiError) as caught:
        await apply(client, gvr, scale(17), "scale-applier", subresource="scale")
    assert caught.value.message == 'Apply failed with 1 conflict: conflict with "applier": .spec.replicas'
    await apply(client, gvr, scale(17), "scale-applier", subresource="scale", force=True)
    assert await owners(17) == ["scale-applier"]
    await client.update(gvr, scale(7), subresource="scale", field_manager="replacer")
    assert await owners(7) == ["replacer"]
    await apply(client, gvr, scale(7), "co-owner", subresource="scale")
    assert sorted(await owners(7)) == ["co-owner", "replacer"]
    await scaled(5, "scaler")
    assert await owners(5) == ["scaler"]


async def test_the_status_of_a_scale_is_nobodys(client: Client) -> None:
    made = await apply(client, DEPLOYMENTS, deployment(replicas=1), "applier")
    patch = {"status": {"replicas": 42}}
    await client.patch(DEPLOYMENTS, "web", patch, namespace="default", subresource="scale", content_type=MERGE_PATCH)
    assert await client.get(DEPLOYMENTS, "web", namespace="default") == made


async def test_a_scale_below_nothing_and_of_another_object(client: Client) -> None:
    made = await client.create(DEPLOYMENTS, deployment(replicas=1), namespace="default")
    with pytest.raises(ApiError) as caught:
        await client.update(DEPLOYMENTS, scale(-1), subresource="scale")
    assert caught.value.message == (
        'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )
    other = scale(2)
    other["metadata"]["uid"] = "u"
    with pytest.raises(ApiError) as caught:
        await client.update(DEPLOYMENTS, other, subresource="scale")
    assert caught.value.message == (
        'Operation cannot be fulfilled on deployments/scale.apps "web": Precondition failed: UID in precondition: u, '
        f"UID in object meta: {made['metadata']['uid']}"
    )


# -- what a write does not touch


RESET: dict[str, tuple[GVR, Object, str, set[str]]] = {
    "the status of a Deployment": (
        DEPLOYMENTS,
        {**deployment(replicas=1), "status": {"replicas": 7}},
        "",
        {"f:spec"},
    ),
    "the spec and labels by its status": (
        DEPLOYMENTS,
        {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "c"}},
            "spec": {"replicas": 9}, "status": {"replicas": 7},
        },
        "status",
        {"f:status"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESET)
async def test_nobody_owns_what_a_write_does_not_touch(client: Client, name: str) -> None:
    gvr, sent, subresource, owned = RESET[name]
    await client.create(gvr, deployment(replicas=1), namespace="default", field_manager="creator")
    after = await apply(client, gvr, sent, "me", **({"subresource": subresource} if subresource else {}))
    assert set(fields_of(after, "me")) == owned
    assert after["spec"]["replicas"] == 1


async def test_ephemeral_containers_are_all_that_their_subresource_owns(
    client: Client, default_account: Object
) -> None:
    await client.create(PODS, pod(), namespace="default", field_manager="creator")
    sent = pod()
    sent["metadata"]["labels"] = {"a": "b"}
    sent["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "busybox"}]
    after = await apply(client, PODS, sent, "me", subresource="ephemeralcontainers")
    assert "labels" not in after["metadata"]
    key = 'k:{"name":"debug"}'
    assert fields_of(after, "me") == {
        "f:spec": {"f:ephemeralContainers": {key: {".": {}, "f:image": {}, "f:name": {}}}}
    }


OPTIONS: dict[str, tuple[Object, str]] = {
    "a manager that is too long": (
        {"fieldManager": "m" * 129},
        "fieldManager: Too long: may not be more than 128 bytes",
    ),
    "a manager that cannot be printed": (
        {"fieldManager": "a\u00e4\n\t"},
        '[fieldManager: Invalid value: "a\u00e4\\n\\t": invalid character U+000A (at position 3), '
        'fieldManager: Invalid value: "a\u00e4\\n\\t": invalid character U+0009 (at position 4)]',
    ),
    "all at once": (
        {"dryRun": "Some", "fieldValidation": "Other", "force": "true"},
        "[force: Forbidden: may not be specified for non-apply patch, "
        'dryRun: Unsupported value: ["Some"]: supported values: "All", '
        'fieldValidation: Unsupported value: "Other": supported values: "", "Ignore", "Strict", "Warn"]',
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
async def test_options_of_a_patch(client: Client, name: str) -> None:
    query, text = OPTIONS[name]
    response = await client.send(
        "PATCH",
        "/api/v1/namespaces/default/configmaps/web",
        query={key: [value] for key, value in query.items()},
        body={},
        headers={"content-type": MERGE_PATCH},
    )
    assert (response.status, response.body["message"]) == (422, f'PatchOptions.meta.k8s.io "" is invalid: {text}')


async def test_the_names_of_owners_that_are_sent(client: Client) -> None:
    sent = cm(a="1")
    entry = {
        "manager": "m" * 129, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:immutable": {}}, "subresource": "s" * 257,
    }  # fmt: skip
    sent["metadata"]["managedFields"] = [entry]
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, sent, namespace="default")
    assert caught.value.message == (
        'ConfigMap "web" is invalid: [metadata.managedFields[0].manager: Too long: may not be more than 128 bytes, '
        "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes]"
    )
