"""Custom resources through the API server: at once usable, validated, converted, cleaned up, there after a restart."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, Object, copy_object
from engine.api.wire import APPLY_PATCH, MERGE_PATCH
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.api.crd.samples import GROUP, cron_tab, definition
from tests.apiserver.conftest import ADMIN, ClientFor

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
CRON_TABS = GVR(GROUP, "v1", "crontabs")
NAME = f"crontabs.{GROUP}"
SCHEMA: Object = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer", "default": 1, "minimum": 0},
        "image": {"type": "string"},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "number": {"type": "integer"}},
            },
        },
    },
}


def _definition(schema: Object = SCHEMA, **version: Any) -> Object:
    made = definition(schema, **version)
    del made["metadata"]["uid"]
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }
    return made


def _cron_tab(name: str = "a", **spec: Any) -> Object:
    made = cron_tab(spec)
    made["metadata"] = {"name": name}
    return made


async def _define(client: Client, made: Object | None = None) -> Object:
    return await client.create(DEFINITIONS, made if made is not None else _definition(subresources={"status": {}}))


async def _path(client: Client, path: str) -> Any:
    body = await client.request("GET", path)
    return orjson.loads(body) if isinstance(body, bytes) else body


async def _apply(client: Client, obj: Object, manager: str) -> Object:
    name = obj["metadata"]["name"]
    return await client.patch(
        CRON_TABS, name, obj, namespace="default", content_type=APPLY_PATCH, field_manager=manager
    )


def _conditions(obj: Object) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in obj["status"]["conditions"]}


async def test_a_definition_is_usable_at_once(client: Client) -> None:
    await _define(client)
    made = await client.create(CRON_TABS, _cron_tab(image="x"), namespace="default")
    assert made["spec"] == {"image": "x", "replicas": 1}
    assert made["metadata"]["generation"] == 1
    stored = await client.get(DEFINITIONS, NAME)
    assert _conditions(stored) == {
        "NamesAccepted": ("True", "NoConflicts"),
        "Established": ("True", "InitialNamesAccepted"),
    }
    assert stored["status"]["storedVersions"] == ["v1"]
    (listed,) = (await client.list(CRON_TABS)).items
    assert listed == made


async def test_it_is_in_every_form_of_discovery_and_in_openapi(client: Client) -> None:
    before = await _path(client, "/openapi/v3")
    made = _definition(
        subresources={"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.n"}}
    )
    made["spec"]["names"] |= {"shortNames": ["ct"], "categories": ["all"]}
    await _define(client, made)
    (group,) = [each for each in (await _path(client, "/apis"))["groups"] if each["name"] == GROUP]
    assert group["preferredVersion"] == {"groupVersion": f"{GROUP}/v1", "version": "v1"}
    resources = (await _path(client, f"/apis/{GROUP}/v1"))["resources"]
    assert [each["name"] for each in resources] == ["crontabs", "crontabs/status", "crontabs/scale"]
    assert (resources[0]["shortNames"], resources[0]["categories"]) == (["ct"], ["all"])
    assert resources[2]["kind"] == "Scale"
    headers = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    (listed,) = [
        each
        for each in (await client.send("GET", "/apis", headers=headers)).body["items"]
        if each["metadata"]["name"] == GROUP
    ]
    (resource,) = listed["versions"][0]["resources"]
    kind, scale = [{"group": GROUP, "version": "v1", "kind": "CronTab"}], {"group": "autoscaling", "version": "v1"}
    kinds = [resource["responseKind"], *(each["responseKind"] for each in resource["subresources"])]
    assert kinds == [*kind * 2, {**scale, "kind": "Scale"}]
    after = await _path(client, "/openapi/v3")
    assert set(after["paths"]) - set(before["paths"]) == {f"apis/{GROUP}/v1"}
    document = await _path(client, f"/openapi/v3/apis/{GROUP}/v1")
    single = document["paths"][f"/apis/{GROUP}/v1/namespaces/{{namespace}}/crontabs/{{name}}"]
    assert {method: list(single[method]["responses"]) for method in ("put", "patch", "delete")} == {
        "put": ["200", "201", "401"], "patch": ["200", "401"], "delete": ["200", "202", "401"]
    }  # fmt: skip
    assert document["info"] == {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
    assert single["put"]["operationId"] == "replaceStableExampleComV1NamespacedCronTab"
    assert list(single["put"]["requestBody"]["content"]) == ["application/json", "application/yaml"]
    of_scale = document["paths"][f"/apis/{GROUP}/v1/namespaces/{{namespace}}/crontabs/{{name}}/scale"]["get"]
    assert of_scale["x-kubernetes-group-version-kind"] == {"group": GROUP, "version": "v1", "kind": "CronTab"}
    assert f"/apis/{GROUP}/v1/" not in document["paths"]
    schemas = document["components"]["schemas"]
    spec = schemas["com.example.stable.v1.CronTab"]["properties"]["spec"]["properties"]
    assert spec["replicas"] == {"type": "integer", "default": 1, "minimum": 0}
    assert "com.example.stable.v1.CronTab" in (await _path(client, "/openapi/v2"))["definitions"]


async def test_what_is_wrong_is_refused_and_what_is_unknown_is_told_of(client: Client) -> None:
    await _define(client)
    with pytest.raises(
        ApiError, match=r"spec.replicas: Invalid value: -1: spec.replicas in body should be greater"
    ) as refused:
        await client.create(CRON_TABS, _cron_tab(replicas=-1), namespace="default")
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    path = CRON_TABS.path("default")
    body = orjson.dumps(_cron_tab(colour="red"))
    headers = {"content-type": "application/json"}
    response = await client.send("POST", path, body=body, headers=headers, query={"fieldValidation": ["Warn"]})
    assert response.headers["warning"] == '299 - "unknown field \\"spec.colour\\""'
    response = await client.send("POST", path, body=body, headers=headers, query={"fieldValidation": ["Strict"]})
    assert response.body["message"] == (
        'CronTab in version "v1" cannot be handled as a CronTab: strict decoding error: unknown field "spec.colour"'
    )


async def _warnings(client: Client, method: str, path: str, body: Object) -> list[str]:
    headers = {"content-type": MERGE_PATCH if method == "PATCH" else "application/json"}
    response = await client.send(method, path, body=orjson.dumps(body), headers=headers)
    assert response.status in {200, 201}, response.body
    told = response.headers.get("warning", "").replace("\\", "")
    return told.removeprefix('299 - "').removesuffix('"').split('", 299 - "') if told else []


async def test_what_is_let_be_is_warned_of(client: Client) -> None:
    """Of unknown formats and finalizers without a domain when they come; of rules that what did not change breaks."""
    schema: Object = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    strict: Object = {"maxLength": 9, "x-kubernetes-validations": [{"rule": "self.startsWith('x')"}]}
    field = schema["properties"]["a"]
    path, definitions = CRON_TABS.path("default"), DEFINITIONS.path(None)
    made = _definition(schema)
    field["format"], schema["properties"]["n"] = "colour", {"type": "integer", "format": "int32"}
    assert await _warnings(client, "POST", definitions, made) == ['unrecognized format "colour"']
    new: Object = {
        **_cron_tab(a="old"),
        "metadata": {"name": "a", "finalizers": ["e.org/a", "orphan", "e.org", "mine"]},
    }
    new["metadata"]["finalizers"].append("kubernetes")
    assert await _warnings(client, "POST", path, new) == [
        'metadata.finalizers: "e.org": prefer a domain-qualified finalizer name including a path (/) to avoid '
        "accidental conflicts with other finalizer writers",
        'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with '
        "other finalizer writers",
    ]
    field.update(strict)
    assert await _warnings(client, "PATCH", f"{definitions}/{NAME}", {"spec": made["spec"]}) == []
    assert await _warnings(client, "PATCH", f"{path}/a", {"spec": {"b": "new"}}) == [
        "spec.a: Invalid value: \"old\": failed rule: self.startsWith('x')"
    ]
    field["format"] = "shade"
    told = await _warnings(client, "PATCH", f"{definitions}/{NAME}", {"spec": made["spec"]})
    assert told == ['unrecognized format "shade"']


async def test_formats_that_no_value_is_held_to_are_warned_of(client: Client) -> None:
    """As from 1.36 on: which formats there are depends on the type; more than strings have some."""
    formats = {
        "small": ("integer", "int32"),
        "part": ("number", "float"),
        "name": ("string", "k8s-short-name"),
        "when": (None, "date-time"),
        "wide": ("integer", "uint64"),
        "share": ("number", "decimal"),
        "whole": ("number", "int64"),
        "text": ("string", "int32"),
        "any": (None, "colour"),
        "flag": ("boolean", "yes-no"),
        "parts": ("object", "email"),
    }
    fields: Object = {
        name: {"format": format_} | ({"type": kind} if kind else {"x-kubernetes-preserve-unknown-fields": True})
        for name, (kind, format_) in formats.items()
    }
    told = await _warnings(
        client, "POST", DEFINITIONS.path(None), _definition({"type": "object", "properties": fields})
    )
    unknown = ("uint64", "decimal", "int64", "int32", "colour", "yes-no", "email")
    assert sorted(told) == sorted(f'unrecognized format "{name}"' for name in unknown)


async def test_status_is_apart_and_the_generation_counts_what_is_wanted(client: Client) -> None:
    await _define(client)
    made = await client.create(CRON_TABS, {**_cron_tab(), "status": {"n": 1}}, namespace="default")
    assert "status" not in made
    made = await client.update_status(CRON_TABS, {**copy_object(made), "status": {"n": 2}, "spec": {"replicas": 9}})
    assert (made["status"], made["spec"], made["metadata"]["generation"]) == ({"n": 2}, {"replicas": 1}, 1)
    made = await client.update(CRON_TABS, {**copy_object(made), "spec": {"replicas": 2}, "status": {}})
    assert (made["status"], made["metadata"]["generation"]) == ({"n": 2}, 2)


async def test_without_a_status_subresource_status_is_a_field_like_others(client: Client) -> None:
    await _define(client, _definition())
    made = await client.create(CRON_TABS, {**_cron_tab(), "status": {"n": 1}}, namespace="default")
    assert made["status"] == {"n": 1}
    applied = {**_cron_tab("b"), "status": {"n": 3}}
    made = await _apply(client, applied, "me")
    assert made["status"] == {"n": 3}
    assert "f:status" in made["metadata"]["managedFields"][0]["fieldsV1"]
    with pytest.raises(ApiError, match=r'crontabs\.stable\.example\.com "a" not found'):
        await client.get(CRON_TABS, "a", namespace="default", subresource="status")


async def test_appliers_share_a_list_by_its_keys(client: Client) -> None:
    await _define(client)
    one = _cron_tab(ports=[{"name": "a", "number": 1}])
    other = _cron_tab(ports=[{"name": "b", "number": 2}])
    await _apply(client, one, "one")
    made = await _apply(client, other, "other")
    assert [each["name"] for each in made["spec"]["ports"]] == ["a", "b"]
    with pytest.raises(ApiError, match=r'conflict with "one": .spec.ports\[name="a"\].number'):
        await _apply(client, _cron_tab(ports=[{"name": "a", "number": 5}]), "other")


async def test_scale_reads_and_writes_where_the_definition_says(client: Client) -> None:
    paths = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.now",
        "labelSelectorPath": ".status.selector",
    }
    await _define(client, _definition(subresources={"status": {}, "scale": paths}))
    made = await client.create(CRON_TABS, _cron_tab(replicas=2), namespace="default")
    await client.update_status(CRON_TABS, {**copy_object(made), "status": {"now": 1, "selector": "app=a"}})
    scale = await client.get(CRON_TABS, "a", namespace="default", subresource="scale")
    assert (scale["spec"], scale["status"]) == ({"replicas": 2}, {"replicas": 1, "selector": "app=a"})
    await client.patch(
        CRON_TABS, "a", {"spec": {"replicas": 5}}, namespace="default", subresource="scale", content_type=MERGE_PATCH
    )
    assert (await client.get(CRON_TABS, "a", namespace="default"))["spec"]["replicas"] == 5


async def test_fields_that_are_selectable_select_lists_and_watches(client: Client) -> None:
    await _define(client, _definition(selectableFields=[{"jsonPath": ".spec.image"}]))
    async with await client.watch(CRON_TABS, field_selector="spec.image=x") as watch:
        for name, image in (("a", "x"), ("b", "y")):
            await client.create(CRON_TABS, _cron_tab(name, image=image), namespace="default")
        listed = await client.list(CRON_TABS, field_selector="spec.image=x")
        assert [each["metadata"]["name"] for each in listed.items] == ["a"]
        event = await anext(aiter(watch))
        assert (event.type, event.object["metadata"]["name"]) == ("ADDED", "a")
    with pytest.raises(ApiError, match=r"field label not supported: spec\.replicas"):
        await client.list(CRON_TABS, field_selector="spec.replicas=1")


async def test_a_changed_schema_counts_for_what_was_stored_before_and_ends_watches(client: Client) -> None:
    made = await _define(client)
    await client.create(CRON_TABS, _cron_tab(image="x"), namespace="default")
    watch = await client.watch(CRON_TABS)
    changed = copy_object(await client.get(DEFINITIONS, NAME))
    properties = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    del properties["image"]
    properties["mode"] = {"type": "string", "default": "slow"}
    changed = await client.update(DEFINITIONS, changed)
    assert changed["metadata"]["generation"] == made["metadata"]["generation"] + 1
    assert (await client.get(CRON_TABS, "a", namespace="default"))["spec"] == {"replicas": 1, "mode": "slow"}
    async with asyncio.timeout(5):
        assert [event.type async for event in watch] == ["ADDED"]


async def test_who_watches_after_a_schema_has_changed_is_told_of_each_change_once(client: Client) -> None:
    await _define(client)
    made = await client.create(CRON_TABS, _cron_tab("a", image="1"), namespace="default")
    async with await client.watch(CRON_TABS, resource_version=made["metadata"]["resourceVersion"]) as watch:
        changed = copy_object(await client.get(DEFINITIONS, NAME))
        fields = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        fields["note"] = {"type": "string"}
        await client.update(DEFINITIONS, changed)
        assert [event.type async for event in watch] == []
    listed = await client.list(CRON_TABS)
    async with await client.watch(CRON_TABS, resource_version=listed.resource_version) as watch:
        for note in "ab":
            patch = {"spec": {"note": note}}
            await client.patch(CRON_TABS, "a", patch, namespace="default", content_type=MERGE_PATCH)
        seen = []
        async for event in watch:
            seen.append(event.object["spec"]["note"])
            if seen[-1] == "b":
                break
    assert seen == ["a", "b"]


async def test_who_watches_what_a_definition_takes_with_it_sees_the_last_of_it(client: Client) -> None:
    """And then the watch ends, for there is nothing any more to watch (kubernetes/kubernetes#74105)."""
    await _define(client)
    held = _cron_tab("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    for each in (_cron_tab("a"), held):
        await client.create(CRON_TABS, each, namespace="default")
    watch = await client.watch(CRON_TABS)
    await client.delete(DEFINITIONS, NAME)
    seen = []
    async with asyncio.timeout(60):
        async for event in watch:
            seen.append((event.type, event.object["metadata"]["name"]))
            if seen[-1] == ("MODIFIED", "held") and len(seen) < 5:
                patch = {"metadata": {"finalizers": None}}
                await client.patch(CRON_TABS, "held", patch, namespace="default", content_type=MERGE_PATCH)
    assert seen[:2] == [("ADDED", "a"), ("ADDED", "held")]
    assert sorted(seen[2:]) == [("DELETED", "a"), ("DELETED", "held"), ("MODIFIED", "held")]


async def test_several_versions_are_one_object(client: Client) -> None:
    made = _definition()
    second = copy_object(made["spec"]["versions"][0])
    second |= {"name": "v2", "storage": False, "deprecated": True}
    second["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["extra"] = {
        "type": "string",
        "default": "e",
    }
    made["spec"]["versions"].append(second)
    await _define(client, made)
    newer = CRON_TABS._replace(version="v2")
    await client.create(CRON_TABS, _cron_tab(), namespace="default")
    found = await client.get(newer, "a", namespace="default")
    assert (found["apiVersion"], found["spec"]) == (f"{GROUP}/v2", {"replicas": 1})
    async with await client.watch(newer) as watch:
        assert (await anext(aiter(watch))).object == found
    response = await client.send("GET", newer.path("default"))
    assert response.headers["warning"] == f'299 - "{GROUP}/v2 CronTab is deprecated"'
    assert (await _path(client, f"/apis/{GROUP}"))["preferredVersion"]["version"] == "v2"


async def test_a_definition_takes_its_objects_with_it(client: Client) -> None:
    await _define(client)
    held = _cron_tab("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await client.create(CRON_TABS, held, namespace="default")
    await client.create(CRON_TABS, _cron_tab("free"), namespace="default")
    async with await client.watch(DEFINITIONS, resource_version="0") as watch, asyncio.timeout(60):
        gone = await client.delete(DEFINITIONS, NAME)
        assert gone["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        assert _conditions(gone)["Terminating"] == ("True", "InstanceDeletionPending")
        async for event in watch:
            if _conditions(event.object).get("Terminating") == ("True", "InstanceDeletionInProgress"):
                break
        with pytest.raises(ApiError, match="create not allowed while custom resource definition is terminating"):
            await client.create(CRON_TABS, _cron_tab("new"), namespace="default")
        await client.patch(
            CRON_TABS, "held", {"metadata": {"finalizers": None}}, namespace="default", content_type=MERGE_PATCH
        )
        async for event in watch:
            if event.type == "DELETED":
                break
    with pytest.raises(ApiError, match="the server could not find the requested resource"):
        await client.list(CRON_TABS)


async def test_the_status_of_a_definition_takes_its_metadata_along(client: Client) -> None:
    await _define(client)
    changed = await client.patch(
        DEFINITIONS,
        NAME,
        {"metadata": {"labels": {"a": "b"}, "finalizers": ["example.com/hold"]}, "spec": {"scope": "Cluster"}},
        content_type=MERGE_PATCH,
        field_manager="reporter",
        subresource="status",
    )
    assert (changed["metadata"]["labels"], changed["spec"]["scope"]) == ({"a": "b"}, "Namespaced")
    (owned,) = (each for each in changed["metadata"]["managedFields"] if each["manager"] == "reporter")
    assert owned["fieldsV1"].keys() == {"f:metadata"}
    await client.delete(DEFINITIONS, NAME)
    await client.patch(
        DEFINITIONS, NAME, {"metadata": {"finalizers": None}}, content_type=MERGE_PATCH, subresource="status"
    )
    with pytest.raises(ApiError, match="not found"):
        await client.get(DEFINITIONS, NAME)


async def test_a_name_that_is_taken_keeps_a_definition_from_being_served(client: Client) -> None:
    await _define(client)
    other = _definition()
    other["metadata"]["name"] = f"others.{GROUP}"
    other["spec"]["names"] = {"plural": "others", "singular": "other", "kind": "CronTab", "listKind": "OtherList"}
    await _define(client, other)
    conditions = _conditions(await client.get(DEFINITIONS, f"others.{GROUP}"))
    assert conditions == {"NamesAccepted": ("False", "KindConflict"), "Established": ("False", "NotAccepted")}
    with pytest.raises(ApiError, match="could not find"):
        await client.list(CRON_TABS._replace(resource="others"))
    await client.delete(DEFINITIONS, NAME)
    async with await client.watch(DEFINITIONS, resource_version="0") as watch, asyncio.timeout(5):
        async for event in watch:
            if event.object["metadata"]["name"] != NAME and _conditions(event.object)["Established"][0] == "True":
                break
    assert (await client.list(CRON_TABS._replace(resource="others"))).items == []


async def test_a_restart_changes_nothing(world: World, store: SqliteStore) -> None:
    for attempt in range(2):
        server = ApiServer(world, store)
        await server.start()
        client = Client(InProcessTransport(server, ADMIN), user_agent="test")
        if not attempt:
            await _define(client)
            await client.create(CRON_TABS, _cron_tab(), namespace="default")
            revision = store.revision
        else:
            assert (await client.list(CRON_TABS)).items[0]["spec"] == {"replicas": 1}
            assert (await client.get(DEFINITIONS, NAME))["metadata"]["generation"] == 1
        await server.stop()
    assert store.revision >= revision


async def test_api_services_say_what_is_served_and_by_whom(client: Client) -> None:
    names = {each["metadata"]["name"]: each for each in (await client.list(API_SERVICES)).items}
    assert _conditions(names["v1.apps"]) == {"Available": ("True", "Local")}
    assert names["v1."]["spec"] == {"groupPriorityMinimum": 18000, "version": "v1", "versionPriority": 1}
    devices = names["v1.resource.k8s.io"]["spec"]
    assert (devices["groupPriorityMinimum"], devices["versionPriority"]) == (16200, 20)
    places = {each["spec"].get("group", ""): each["spec"]["groupPriorityMinimum"] for each in names.values()}
    listed = [each["name"] for each in (await _path(client, "/apis"))["groups"] if each["name"] in places]
    assert listed == sorted(places.keys() & set(listed), key=lambda group: (-places[group], group))
    remote: Object = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.metrics.example.com"},
        "spec": {
            "group": "metrics.example.com",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"namespace": "kube-system", "name": "metrics"},
        },
    }
    async with await client.watch(API_SERVICES, resource_version="0") as watch, asyncio.timeout(5):
        await client.create(API_SERVICES, remote)
        await _define(client)
        seen: dict[str, Object] = {}
        async for event in watch:
            seen[event.object["metadata"]["name"]] = event.object
            if "conditions" in seen.get(remote["metadata"]["name"], {}).get("status", {}) and f"v1.{GROUP}" in seen:
                break
    assert _conditions(seen["v1.metrics.example.com"]) == {"Available": ("False", "ServiceNotFound")}
    assert _conditions(seen[f"v1.{GROUP}"]) == {"Available": ("True", "Local")}
    with pytest.raises(ApiError, match="unable to handle the request") as refused:
        await client.list(GVR("metrics.example.com", "v1", "nodes"))
    assert refused.value.code == 503


async def test_who_may_do_what_is_asked_of_rbac(client: Client, client_for: ClientFor) -> None:
    await _define(client)
    stranger = client_for("jane")
    with pytest.raises(ApiError, match=f'User "jane" cannot list resource "crontabs" in API group "{GROUP}"'):
        await stranger.list(CRON_TABS, namespace="default")


async def test_an_object_without_replicas_can_be_scaled(client: Client) -> None:
    paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    schema: Object = {"type": "object", "properties": {"size": {"type": "integer"}}}
    await _define(client, _definition(schema, subresources={"scale": paths}))
    await client.create(CRON_TABS, _cron_tab(), namespace="default")
    with pytest.raises(ApiError, match=r'the spec replicas field ".spec.size" does not exist'):
        await client.get(CRON_TABS, "a", namespace="default", subresource="scale")
    scale: Object = {"metadata": {"labels": {"a": "b"}}}
    with pytest.raises(ApiError, match=r'the spec replicas field ".spec.size" cannot be empty'):
        await client.patch(CRON_TABS, "a", scale, namespace="default", subresource="scale", content_type=MERGE_PATCH)
    scale = {"spec": {"replicas": 3}}
    await client.patch(CRON_TABS, "a", scale, namespace="default", subresource="scale", content_type=MERGE_PATCH)
    assert (await client.get(CRON_TABS, "a", namespace="default"))["spec"] == {"size": 3}


@pytest.mark.parametrize(("version", "code"), [(None, 200), ("1", 409)])
async def test_a_scale_need_not_say_which_revision_it_is_of(client: Client, version: str | None, code: int) -> None:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.n"}
    await _define(client, _definition(subresources={"scale": paths}))
    await client.create(CRON_TABS, _cron_tab(), namespace="default")
    metadata = {"name": "a", "namespace": "default", "resourceVersion": version}
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": 8}}
    path, headers = f"{CRON_TABS.path('default')}/a/scale", {"content-type": "application/json"}
    response = await client.send("PUT", path, body=orjson.dumps(scale), headers=headers)
    assert response.status == code, response.body
    replicas = (await client.get(CRON_TABS, "a", namespace="default"))["spec"]["replicas"]
    assert replicas == (8 if code == 200 else 1)


async def test_replicas_are_owned_where_each_version_has_them(client: Client) -> None:
    """As in upstream's TestApplyScaleSubresource: a Scale takes the replicas from where each version has them, and
    nothing of what is owned in a version without scale."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    made = _definition(
        anything, subresources={"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.n"}}
    )
    (first,) = made["spec"]["versions"]
    paths = {"specReplicasPath": ".spec.replicas[0]", "statusReplicasPath": ".status.n"}
    second = {**first, "name": "v1beta1", "storage": False, "subresources": {"scale": paths}}
    made["spec"]["versions"] += [second, {**second, "name": "v1alpha1", "subresources": {}}]
    await _define(client, made)
    owned: list[tuple[str, Object]] = [("v1beta1", {"replicas": 1, "replicas[0]": 3}), ("v1alpha1", {"replicas": 1})]
    for version, spec in owned:
        obj = {**_cron_tab(), "apiVersion": f"{GROUP}/{version}", "spec": spec}
        await client.patch(
            CRON_TABS._replace(version=version),
            "a",
            obj,
            namespace="default",
            content_type=APPLY_PATCH,
            field_manager=version,
        )
    await _apply(client, _cron_tab(replicas=1), "applier")
    scale = {"spec": {"replicas": 5}}
    await client.patch(
        CRON_TABS,
        "a",
        scale,
        namespace="default",
        subresource="scale",
        content_type=MERGE_PATCH,
        field_manager="scaler",
    )
    entries = (await client.get(CRON_TABS, "a", namespace="default"))["metadata"]["managedFields"]
    assert {each["manager"]: each["fieldsV1"]["f:spec"] for each in entries} == {
        "scaler": {"f:replicas": {}},
        "v1beta1": {"f:replicas": {}},
        "v1alpha1": {"f:replicas": {}},
    }


async def test_numbers_that_go_cannot_keep_are_no_server_errors(client: Client) -> None:
    schema: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    await _define(client, _definition(schema))
    path, headers = CRON_TABS.path("default"), {"content-type": "application/json"}
    for number, code in (("1" * 30, 201), ("1" * 400, 400)):
        body = orjson.dumps(_cron_tab("n")).replace(b'"spec":{}', f'"spec":{{"n":{number}}}'.encode())
        response = await client.send("POST", path, body=body, headers=headers)
        assert response.status == code, response.body
    assert (await client.get(CRON_TABS, "n", namespace="default"))["spec"] == {"n": float("1" * 30)}


async def test_other_names_are_given_before_the_change_is_answered(client: Client) -> None:
    await _define(client)
    changed = copy_object(await client.get(DEFINITIONS, NAME))
    changed["spec"]["names"]["shortNames"] = ["ct"]
    await client.update(DEFINITIONS, changed)
    assert (await client.get(DEFINITIONS, NAME))["status"]["acceptedNames"]["shortNames"] == ["ct"]


async def test_an_object_must_say_what_kind_it_is(client: Client) -> None:
    await _define(client)
    path, headers = f"/apis/{GROUP}/v1/namespaces/default/crontabs", {"content-type": "application/json"}
    answer = await client.send("POST", path, body=b'{"metadata": {"name": "a"}}', headers=headers)
    text = 'Object \'Kind\' is missing in \'{"metadata": {"name": "a"}}\''
    assert (answer.status, answer.body["message"]) == (
        400,
        f'the object provided is unrecognized (must be of type CronTab): {text} ({{"metadata": {{"name": "a"}}}})',
    )
    await client.create(CRON_TABS, _cron_tab(), namespace="default")
    with pytest.raises(ApiError, match=r"patch: Invalid value: .*: Object 'Kind' is missing in '") as caught:
        await client.patch(CRON_TABS, "a", {"kind": None}, namespace="default", content_type=MERGE_PATCH)
    assert caught.value.code == 422


async def test_a_group_of_the_community_tells_of_its_approval(client: Client) -> None:
    made = _definition()
    made["spec"]["group"], made["metadata"]["name"] = "a.k8s.io", "crontabs.a.k8s.io"
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://example.com/pull/1"}
    await client.create(DEFINITIONS, made)
    stored = await client.get(DEFINITIONS, "crontabs.a.k8s.io")
    assert _conditions(stored)["KubernetesAPIApprovalPolicyConformant"] == ("True", "ApprovedAnnotation")


async def test_a_definition_that_lost_its_conditions_is_not_served_and_may_still_be_written(client: Client) -> None:
    """Names that were accepted are not looked at again, as in naming_controller.go: a write must not wait for that."""
    await _define(client)
    lost = {"status": {"conditions": [{"status": "True"}]}}
    await client.patch(DEFINITIONS, NAME, lost, subresource="status", content_type=MERGE_PATCH)
    labelled = {"metadata": {"labels": {"a": "b"}}}
    async with asyncio.timeout(5):
        made = await client.patch(DEFINITIONS, NAME, labelled, content_type=MERGE_PATCH)
    assert made["metadata"]["labels"] == {"a": "b"}
    with pytest.raises(ApiError) as caught:
        await client.list(CRON_TABS)
    assert caught.value.code == 404
    renamed = {"spec": {"names": {"shortNames": ["ct", "tabs"]}}}
    async with asyncio.timeout(5):
        await client.patch(DEFINITIONS, NAME, renamed, content_type=MERGE_PATCH)
    await client.list(CRON_TABS)


async def test_what_go_cannot_tell_from_nothing_is_not_kept(client: Client) -> None:
    made = _definition()
    version = made["spec"]["versions"][0]
    node: Object = {"type": "string", "nullable": False, "uniqueItems": False, "title": "", "maxLength": 0}
    node["x-kubernetes-int-or-string"] = False
    version["schema"]["openAPIV3Schema"]["properties"]["node"] = node
    version["deprecated"] = made["spec"]["preserveUnknownFields"] = False
    created = await client.create(DEFINITIONS, made)
    kept = created["spec"]["versions"][0]
    assert kept["schema"]["openAPIV3Schema"]["properties"]["node"] == {"type": "string", "maxLength": 0}
    assert "deprecated" not in kept
    assert "preserveUnknownFields" not in created["spec"]


async def test_a_status_is_told_of_by_places_in_it_and_a_patch_that_says_another_version_by_that(
    client: Client,
) -> None:
    made = _definition(subresources={"status": {}})
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] = {
        "type": "object",
        "properties": {"seen": {"type": "integer"}},
    }
    await client.create(DEFINITIONS, made)
    await client.create(CRON_TABS, {**_cron_tab(), "metadata": {"name": "a"}}, namespace="default")
    path = f"{CRON_TABS.path('default')}/a"
    for where, patch, wrong in (
        (
            f"{path}/status",
            {"status": {"seen": "x"}},
            'status.seen: Invalid value: "string": seen in body must be of type integer: "string"',
        ),
        (path, {"apiVersion": f"{GROUP}/v9"}, f'apiVersion: Invalid value: "{GROUP}/v9": must be {GROUP}/v1'),
    ):
        answer = await client.send("PATCH", where, body=orjson.dumps(patch), headers={"content-type": MERGE_PATCH})
        assert (answer.status, answer.body["message"]) == (422, f'CronTab.{GROUP} "a" is invalid: {wrong}')


async def test_rules_are_not_asked_about_an_object_without_a_name(client: Client) -> None:
    schema: Object = {**SCHEMA, "x-kubernetes-validations": [{"rule": "self.replicas > 0"}]}
    await client.create(DEFINITIONS, _definition(schema))
    with pytest.raises(ApiError) as wrong:
        await client.create(CRON_TABS, {**_cron_tab(), "metadata": {}}, namespace="default")
    assert [cause["field"] for cause in (wrong.value.details or {})["causes"]] == ["metadata.name", "<nil>"]


async def test_lists_of_custom_resources_are_described_in_words_of_their_own(client: Client) -> None:
    await client.create(DEFINITIONS, _definition())
    document = (await client.send("GET", f"/openapi/v3/apis/{GROUP}/v1")).body
    described = document["paths"][f"/apis/{GROUP}/v1/namespaces/{{namespace}}/crontabs"]["get"]["description"]
    assert described == "list objects of kind CronTab"
