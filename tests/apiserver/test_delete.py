from __future__ import annotations

import asyncio

import pytest

from engine.api.errors import ApiError
from engine.api.types import (
    CONFIGMAPS,
    DEPLOYMENTS,
    GVR,
    NAMESPACES,
    PODS,
    SERVICE_ACCOUNTS,
    Object,
    copy_object,
)
from engine.apiserver.registry.delete import PRIORITY_CLASSES
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, account, config_map, make_namespace, pod
from tests.apiserver.test_create import deployment

RULES = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
RULE_BINDINGS = GVR("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings")
CONTROLLERS, JOBS = GVR("", "v1", "replicationcontrollers"), GVR("batch", "v1", "jobs")


async def bound_pod(client: Client, name: str = "web") -> Object:
    await client.create(PODS, pod(name), namespace="default")
    target = {"target": {"kind": "Node", "name": "node-1"}, "metadata": {"name": name}}
    await client.create(
        PODS, {"apiVersion": "v1", "kind": "Binding", **target}, namespace="default", name=name, subresource="binding"
    )
    return await client.get(PODS, name, namespace="default")


async def is_there(client: Client, name: str = "web") -> bool:
    response = await client.send("GET", PODS.path("default", name))
    assert response.status in (200, 404)
    return response.status == 200


async def test_deleting_answers_with_a_status(client: Client) -> None:
    made = await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    assert await client.delete(CONFIGMAPS, "web", namespace="default") == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "web", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    with pytest.raises(ApiError, match='configmaps "web" not found'):
        await client.delete(CONFIGMAPS, "web", namespace="default")


STORAGE_CLASSES, DEVICE_CLASSES = (
    GVR("storage.k8s.io", "v1", "storageclasses"),
    GVR("resource.k8s.io", "v1", "deviceclasses"),
)


@pytest.mark.parametrize("gvr", [STORAGE_CLASSES, DEVICE_CLASSES], ids=lambda gvr: gvr.resource)
async def test_deleting_answers_with_what_it_was(client: Client, gvr: GVR) -> None:
    """Of storage and of devices, as of Pods and Services (`ReturnDeletedObject` of their stores)."""
    of: Object = {"provisioner": "example.com/disk"} if gvr is STORAGE_CLASSES else {"spec": {}}
    made = await client.create(gvr, {"metadata": {"name": "fast"}, **of})
    gone = await client.delete(gvr, "fast")
    assert (gone["kind"], gone["metadata"]["uid"]) == (made["kind"], made["metadata"]["uid"])


async def test_a_pod_on_a_node_gets_its_grace(client: Client, default_account: Object) -> None:
    await bound_pod(client)
    going = await client.delete(PODS, "web", namespace="default")
    assert going["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert going["metadata"]["deletionGracePeriodSeconds"] == 30
    assert await is_there(client)
    # A longer grace is not given, a shorter one is, counted from when the deletion began.
    again = await client.delete(PODS, "web", namespace="default", grace_period_seconds=60)
    assert again["metadata"]["deletionGracePeriodSeconds"] == 30
    shorter = await client.delete(PODS, "web", namespace="default", grace_period_seconds=5)
    assert shorter["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:05Z"
    await client.delete(PODS, "web", namespace="default", grace_period_seconds=0)
    assert not await is_there(client)


async def test_a_pod_on_no_node_goes_at_once(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    gone = await client.delete(PODS, "web", namespace="default")
    assert gone["kind"] == "Pod"
    assert not await is_there(client)


async def test_what_is_gone_is_shown_at_the_revision_of_its_deletion(
    client: Client, store: SqliteStore, default_account: Object
) -> None:
    await client.create(PODS, pod(), namespace="default")
    await client.create(SERVICE_ACCOUNTS, account("web"), namespace="default")
    for gvr in (PODS, SERVICE_ACCOUNTS):
        gone = await client.delete(gvr, "web", namespace="default")
        assert gone["metadata"]["resourceVersion"] == str(store.revision), gvr


async def test_what_changes_while_it_is_deleted_is_admitted_as_it_is_then(virtual_clock: VirtualClock) -> None:
    """A policy lets an object go that another write protects before it is taken away (TestRetryDeleteValidation)."""
    store = await SqliteStore.open(None, clock=virtual_clock)
    server = ApiServer(World.create(clock=virtual_clock, seed=1, latencies={"store": (1000, 1000)}), store)
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]}
    protects = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "!has(oldObject.data.keep)", "message": "it is to be kept"}],
    }
    await client.create(RULES, {"metadata": {"name": "keep"}, "spec": protects})
    bound = {"policyName": "keep", "validationActions": ["Deny"]}
    await client.create(RULE_BINDINGS, {"metadata": {"name": "keep"}, "spec": bound})
    await client.create(CONFIGMAPS, config_map("a", free="1"), namespace="default")

    async def protect() -> None:
        await virtual_clock.sleep(0.5)
        await client.patch(CONFIGMAPS, "a", {"data": {"free": None, "keep": "1"}}, namespace="default")

    async def delete() -> None:
        await virtual_clock.sleep(1)
        await client.delete(CONFIGMAPS, "a", namespace="default")

    with pytest.raises(ApiError, match="it is to be kept"):
        await asyncio.gather(delete(), protect())
    assert (await client.get(CONFIGMAPS, "a", namespace="default"))["data"] == {"keep": "1"}
    await server.stop()
    await store.close()


async def test_a_pod_that_has_ended_goes_at_once(client: Client, default_account: Object) -> None:
    await bound_pod(client)
    await client.patch(PODS, "web", {"status": {"phase": "Failed"}}, namespace="default", subresource="status")
    await client.delete(PODS, "web", namespace="default")
    assert not await is_there(client)


async def test_finalizers_keep_an_object_until_they_are_taken_off(client: Client) -> None:
    held = config_map("web")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await client.create(CONFIGMAPS, held, namespace="default")
    going = await client.delete(CONFIGMAPS, "web", namespace="default")
    assert going["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    patch = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    with pytest.raises(ApiError, match="no new finalizers can be added if the object is being deleted"):
        await client.patch(CONFIGMAPS, "web", patch, namespace="default")
    released = copy_object(going)
    released["metadata"]["finalizers"] = []
    await client.update(CONFIGMAPS, released)
    with pytest.raises(ApiError, match="not found"):
        await client.get(CONFIGMAPS, "web", namespace="default")


POLICIES = {
    "foreground": ("Foreground", ["foregroundDeletion"]),
    "orphan": ("Orphan", ["orphan"]),
}


@pytest.mark.parametrize("case", POLICIES.values(), ids=POLICIES.keys())
async def test_a_propagation_policy_leaves_its_finalizer(client: Client, case: tuple[str, list[str]]) -> None:
    policy, finalizers = case
    await client.create(DEPLOYMENTS, deployment(), namespace="default")
    going = await client.delete(DEPLOYMENTS, "web", namespace="default", propagation_policy=policy)
    assert going["metadata"]["finalizers"] == finalizers
    assert going["metadata"]["deletionTimestamp"]
    assert going["metadata"]["generation"] == 2


async def test_preconditions_are_checked(client: Client) -> None:
    made = await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    with pytest.raises(ApiError, match="the UID in the precondition") as caught:
        await client.delete(CONFIGMAPS, "web", namespace="default", preconditions={"uid": "other"})
    assert caught.value.code == 409
    with pytest.raises(ApiError, match="the ResourceVersion in the precondition"):
        await client.delete(CONFIGMAPS, "web", namespace="default", preconditions={"resourceVersion": "1"})
    await client.delete(CONFIGMAPS, "web", namespace="default", preconditions={"uid": made["metadata"]["uid"]})


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"uid": "other"}, 409),
        ({"resourceVersion": "0"}, 409),
        ({"uid": "UID", "resourceVersion": "0"}, 409),
        ({"uid": "UID", "resourceVersion": "RV"}, 200),
        ({"uid": "", "resourceVersion": ""}, 200),
    ],
)
@pytest.mark.parametrize("name", ["web", ""])
async def test_the_query_may_have_preconditions_where_there_is_no_body(
    client: Client, query: dict[str, str], code: int, name: str
) -> None:
    """Also of a collection, of which they are asked each (apimachinery Convert_url_Values_To_v1_DeleteOptions)."""
    made = (await client.create(CONFIGMAPS, config_map("web"), namespace="default"))["metadata"]
    stands_for = {"UID": made["uid"], "RV": made["resourceVersion"]}
    asked = {key: [stands_for.get(text, text)] for key, text in query.items()}
    answer = await client.send("DELETE", CONFIGMAPS.path("default", name), query=asked)
    assert answer.status == code, answer.body


async def test_a_dry_run_of_what_ends_already_answers_the_object(client: Client) -> None:
    held = config_map("web")
    held["metadata"]["finalizers"] = ["example.com/held"]
    await client.create(CONFIGMAPS, held, namespace="default")
    await client.delete(CONFIGMAPS, "web", namespace="default")
    path = CONFIGMAPS.path("default", "web")
    assert (await client.request("DELETE", path, query={"dryRun": ["All"]}))["kind"] == "ConfigMap"


async def test_a_dry_run_deletes_nothing(client: Client, store: SqliteStore) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    before = store.revision
    path = CONFIGMAPS.path("default", "web")
    assert (await client.request("DELETE", path, query={"dryRun": ["All"]}))["status"] == "Success"
    assert store.revision == before


HOLD = "example.com/hold"
# Whether Pods are left by default, the finalizers, the policy or orphanDependents -> the finalizers then, None if gone.
DELETIONS: dict[str, tuple[bool, list[str], str | bool | None, list[str] | None]] = {
    "nothing said": (False, [], None, None),
    "nothing said, held": (False, [HOLD], None, [HOLD]),
    "nothing said, orphan before": (False, ["orphan"], None, ["orphan"]),
    "nothing said, foreground before": (False, ["foregroundDeletion"], None, ["foregroundDeletion"]),
    "orphans, held": (False, [HOLD], True, [HOLD, "orphan"]),
    "orphans, orphan before others": (False, ["orphan", HOLD], True, ["orphan", HOLD]),
    "orphans instead of foreground": (False, ["foregroundDeletion", HOLD], True, [HOLD, "orphan"]),
    "no orphans": (False, [], False, None),
    "no orphans, orphan before": (False, ["orphan"], False, None),
    "no orphans, foreground before": (False, ["foregroundDeletion"], False, None),
    "Background, orphan before": (False, ["orphan", HOLD], "Background", [HOLD]),
    "Foreground instead of orphan": (False, ["orphan"], "Foreground", ["foregroundDeletion"]),
    "Orphan instead of foreground": (False, ["foregroundDeletion"], "Orphan", ["orphan"]),
    "left, nothing said": (True, [], None, ["orphan"]),
    "left, nothing said, held": (True, [HOLD], None, [HOLD, "orphan"]),
    "left, nothing said, foreground before": (True, ["foregroundDeletion"], None, ["foregroundDeletion"]),
    "left, no orphans": (True, [], False, None),
    "left, Background": (True, ["orphan"], "Background", None),
    "left, Foreground": (True, [], "Foreground", ["foregroundDeletion"]),
}


@pytest.mark.parametrize("row", DELETIONS.values(), ids=DELETIONS.keys())
async def test_finalizers_of_a_deletion(
    client: Client, row: tuple[bool, list[str], str | bool | None, list[str] | None]
) -> None:
    """TestStoreDeleteWithOrphanDependents and TestStoreDeletionPropagation of upstream."""
    left, finalizers, how, expected = row
    resource = CONTROLLERS if left else CONFIGMAPS
    made: Object = config_map("web")
    if left:
        template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
        spec = {"replicas": 0, "selector": {"app": "web"}, "template": template}
        made = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "web"}, "spec": spec}
    made["metadata"]["finalizers"] = finalizers
    await client.create(resource, made, namespace="default")
    options: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
    if how is not None:
        options["propagationPolicy" if isinstance(how, str) else "orphanDependents"] = how
    await client.request("DELETE", resource.path("default", "web"), body=options)
    assert await _finalizers(client, resource) == expected


async def _finalizers(client: Client, resource: GVR) -> list[str] | None:
    response = await client.send("GET", resource.path("default", "web"))
    if response.status == 404:
        return None
    found: list[str] = response.body["metadata"]["finalizers"]
    return found


async def test_a_deletion_that_changes_nothing_more_writes_nothing(client: Client, store: SqliteStore) -> None:
    held = config_map("web")
    held["metadata"]["finalizers"] = ["orphan", HOLD]
    await client.create(CONFIGMAPS, held, namespace="default")
    await client.delete(CONFIGMAPS, "web", namespace="default", propagation_policy="Orphan")
    marked = store.revision
    await client.delete(CONFIGMAPS, "web", namespace="default", propagation_policy="Orphan")
    assert store.revision == marked


async def test_who_deletes_jobs_is_told_of_their_pods(client: Client) -> None:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web"}, "spec": {"template": template}}
    await client.create(JOBS, job, namespace="default")
    path = JOBS.path("default", "web")
    told = await client.send("DELETE", path)
    assert told.body["metadata"]["finalizers"] == ["orphan"]
    assert told.headers["warning"].startswith('299 - "child pods are preserved by default when jobs are deleted; set ')
    assert "warning" not in (await client.send("DELETE", path, query={"propagationPolicy": ["Background"]})).headers
    assert (await client.send("GET", path)).status == 404


async def test_a_collection_is_deleted_by_selector(client: Client) -> None:
    for name, app in (("a", "web"), ("b", "web"), ("c", "api")):
        await client.create(CONFIGMAPS, config_map(name, {"app": app}), namespace="default")
    await client.delete_collection(CONFIGMAPS, namespace="default", label_selector="app=web")
    assert [item["metadata"]["name"] for item in (await client.list(CONFIGMAPS, namespace="default")).items] == ["c"]


@pytest.mark.parametrize(
    ("query", "deleted", "remaining"),
    [
        ({"limit": "2"}, ["a", "b"], 1),
        ({"limit": "2", "labelSelector": "app"}, ["a", "b"], None),
        ({"limit": "9"}, ["a", "b", "c"], None),
        ({"limit": "2", "resourceVersion": "0"}, ["a", "b", "c"], None),
        ({"resourceVersion": "first"}, ["a"], None),
        ({"resourceVersion": "first", "resourceVersionMatch": "NotOlderThan"}, ["a", "b", "c"], None),
        ({"fieldSelector": "metadata.name=b"}, ["b"], None),
    ],
    ids=["page", "page of a selection", "page of all", "any", "a version, which is exact", "not older than", "one"],
)
async def test_a_collection_is_deleted_as_it_is_listed(
    client: Client, query: dict[str, str], deleted: list[str], remaining: int | None
) -> None:
    """The answer is the list: with a limit it goes no further than the page, and says where to go on."""
    every = ["a", "b", "c"]
    made = [await client.create(CONFIGMAPS, config_map(name, {"app": "web"}), namespace="default") for name in every]
    stands_for = {"first": made[0]["metadata"]["resourceVersion"]}
    asked = {key: [stands_for.get(text, text)] for key, text in query.items()}
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}  # as client-go sends them: the query is the list's alone
    response = await client.send("DELETE", CONFIGMAPS.path("default"), query=asked, body=options)
    assert (response.status, response.body["kind"]) == (200, "ConfigMapList")
    assert [item["metadata"]["name"] for item in response.body["items"]] == deleted
    assert response.body["metadata"].get("remainingItemCount") == remaining
    assert ("continue" in response.body["metadata"]) is (len(deleted) < 3 and "limit" in query)
    left = (await client.list(CONFIGMAPS, namespace="default")).items
    assert [item["metadata"]["name"] for item in left] == [name for name in every if name not in deleted]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"resourceVersionMatch": "Exact"},
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden '
            "unless resourceVersion is provided",
        ),
        ({"limit": ""}, 'strconv.ParseInt: parsing "": invalid syntax'),
        ({"continue": "x"}, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"),
        (
            {"propagationPolicy": "Never"},
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Never": supported values: '
            '"Foreground", "Background", "Orphan", "nil"',
        ),
    ],
    ids=["match without a version", "limit without a value", "no token", "no such policy"],
)
async def test_a_collection_that_cannot_be_listed(client: Client, query: dict[str, str], message: str) -> None:
    """Though it is empty."""
    path = CONFIGMAPS.path("default")
    response = await client.send("DELETE", path, query={key: [text] for key, text in query.items()})
    assert response.body["message"] == message


async def test_a_namespace_goes_when_its_finalizer_is_taken_off(client: Client) -> None:
    await make_namespace(client, "going")
    going = await client.delete(NAMESPACES, "going")
    assert going["status"]["phase"] == "Terminating"
    assert (await client.delete(NAMESPACES, "going"))["metadata"]["uid"] == going["metadata"]["uid"]
    empty = copy_object(going)
    empty["spec"]["finalizers"] = []
    await client.update(NAMESPACES, empty, subresource="finalize")
    with pytest.raises(ApiError, match='namespaces "going" not found'):
        await client.get(NAMESPACES, "going")


async def test_finalizers_of_a_namespace_have_names(client: Client) -> None:
    await make_namespace(client, "held")
    held = await client.get(NAMESPACES, "held")
    held["spec"]["finalizers"] = ["kubernetes", "example.com/hold", "hold", "a b"]
    with pytest.raises(ApiError) as caught:
        await client.update(NAMESPACES, held, subresource="finalize")
    neither = "name is neither a standard finalizer name nor is it fully qualified"
    assert caught.value.code == 422
    assert f'spec.finalizers[2]: Invalid value: "hold": {neither}' in caught.value.message
    assert 'spec.finalizers[3]: Invalid value: "a b": name part must consist of' in caught.value.message
    held["spec"]["finalizers"] = ["kubernetes", "example.com/hold"]
    kept = await client.update(NAMESPACES, held, subresource="finalize")
    assert kept["spec"]["finalizers"] == ["kubernetes", "example.com/hold"]


async def test_some_namespaces_stay(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await client.delete(NAMESPACES, "kube-system")
    assert caught.value.message == 'namespaces "kube-system" is forbidden: this namespace may not be deleted'


async def test_system_priority_classes_stay_unless_all_go(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await client.delete(PRIORITY_CLASSES, "system-node-critical")
    assert (caught.value.code, caught.value.message) == (
        403,
        'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: '
        "this is a system priority class and cannot be deleted",
    )
    await client.delete_collection(PRIORITY_CLASSES, field_selector="metadata.name=system-node-critical")
    with pytest.raises(ApiError, match='"system-node-critical" not found'):
        await client.get(PRIORITY_CLASSES, "system-node-critical")


async def test_options_that_make_no_sense(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    with pytest.raises(
        ApiError, match='propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Backg'
    ):
        await client.delete(CONFIGMAPS, "web", namespace="default", propagation_policy="Sideways")


PRECONDITIONS: dict[str, tuple[dict[str, str], str]] = {
    "another uid": (
        {"uid": "x"},
        'Operation cannot be fulfilled on ConfigMap "web": the UID in the precondition (x) does not match the UID in '
        "record (UID). The object might have been deleted and then recreated",
    ),
    "another version": (
        {"resourceVersion": "1"},
        'Operation cannot be fulfilled on ConfigMap "web": the ResourceVersion in the precondition (1) does not match '
        "the ResourceVersion in record (VERSION). The object might have been modified",
    ),
}


@pytest.mark.parametrize("name", PRECONDITIONS)
async def test_what_a_delete_asks_for_and_is_not_so(name: str, client: Client) -> None:
    preconditions, text = PRECONDITIONS[name]
    metadata = (await client.create(CONFIGMAPS, config_map("web"), namespace="default"))["metadata"]
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions}
    answer = await client.send("DELETE", "/api/v1/namespaces/default/configmaps/web", body=options)
    expected = text.replace("UID)", f"{metadata['uid']})").replace("VERSION", metadata["resourceVersion"])
    assert (answer.status, answer.body["message"]) == (409, expected)
