"""Objects that the store has and nobody can read: what reads, watches and deletes make of them (KEP-3926; the cases of
upstream's TestDeleteResourceWithUnsafeDeleter, TestAllowUnsafeMalformedObjectDeletion and TestListCorruptObjects)."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, ROLE_BINDINGS, ROLES, Object
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.store.sqlite import SqliteStore
from engine.store.types import DeleteRange, Put, Range
from engine.world import World
from tests.apiserver.conftest import ADMIN, ClientFor, config_map, make_namespace
from tests.apiserver.test_authorization import binding, role, user
from tests.apiserver.test_list import names
from tests.apiserver.test_watch import next_event

OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
UNSAFE: Object = {"kind": "DeleteOptions", "apiVersion": "v1", OPTION: True}
PATH = "/api/v1/namespaces/default/configmaps"


async def damage(store: SqliteStore, name: str, value: bytes = b'{"kind":', namespace: str = "default") -> int:
    """Store what is no object; the revision that did."""
    put = await store.txn([], [Put(f"/registry/configmaps/{namespace}/{name}".encode(), value)])
    return put.revision


def text(name: str, revision: int, why: str = "unexpected end of JSON input", *, prefix: str = "/registry") -> str:
    key = f"{prefix}/configmaps/default/{name}"
    return (
        f"StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"object not decodable revision={revision}: couldn't get version/kind; json parse error: {why}"
    )


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("GET", None),
        ("DELETE", None),
        ("PUT", {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}),
        ("PATCH", {"data": {"x": "y"}}),
    ],
    ids=["get", "delete", "update", "patch"],
)
async def test_one_is_a_failure_that_names_its_key(
    client: Client, store: SqliteStore, method: str, body: Object | None
) -> None:
    revision = await damage(store, "a")
    headers = {"content-type": "application/merge-patch+json"} if method == "PATCH" else {}
    answer = await client.send(method, f"{PATH}/a", body=body, headers=headers)
    assert (answer.status, answer.body["reason"]) == (500, "InternalError")
    assert answer.body["message"] == f"Internal error occurred: {text('a', revision, prefix='')}"


@pytest.mark.parametrize("version", ["", "0"])
async def test_a_list_tells_of_all_that_it_met(client: Client, store: SqliteStore, version: str) -> None:
    await make_namespace(client, "other")
    await client.create(CONFIGMAPS, config_map("fine"), namespace="other")
    await client.create(CONFIGMAPS, config_map("fine"), namespace="default")
    revisions = [await damage(store, name) for name in ("a", "b")]
    answer = await client.send("GET", PATH, query={"resourceVersion": [version], "limit": ["500"]})
    assert (answer.status, answer.body["reason"]) == (500, "StorageReadError")
    first = text("a", revisions[0])
    assert answer.body["message"] == f"failed to read one or more configmaps from the storage: {first} (and 1 more)"
    assert answer.body["details"] == {
        "name": "list",
        "kind": "configmaps",
        "causes": [
            {
                "reason": "UnexpectedServerResponse",
                "message": text(name, revision),
                "field": f"/registry/configmaps/default/{name}",
            }
            for name, revision in zip(("a", "b"), revisions, strict=True)
        ],
    }
    other = await client.list(CONFIGMAPS, namespace="other", resource_version=version or None, limit=500)
    assert names(other.items) == ["fine"]


@pytest.mark.parametrize(("count", "causes"), [(99, 99), (100, 101), (101, 101)])
async def test_a_list_tells_of_a_hundred_at_the_most(
    client: Client, store: SqliteStore, count: int, causes: int
) -> None:
    """At the hundredth upstream stops, whether there are more or not (store_tests.go)."""
    puts = [Put(f"/registry/configmaps/default/c{number:03}".encode(), b"{") for number in range(count)]
    await store.txn([], puts)
    answer = await client.send("GET", PATH, query={"limit": ["500"]})
    found = answer.body["details"]["causes"]
    assert len(found) == causes
    assert answer.body["message"].endswith(f" (and {min(count, 100) - 1} more)")
    truncated = {"reason": "FieldValueTooMany", "message": "too many errors, the list is truncated"}
    assert (found[-1] == truncated) is (count >= 100)


@pytest.mark.parametrize(
    "query",
    [{}, {"resourceVersion": "0"}, {"resourceVersion": "1"}, {"labelSelector": "x", "limit": "5"}],
    ids=["newest", "any", "not older than", "with a selector"],
)
async def test_what_would_come_from_the_cache_is_to_be_asked_for_later(
    client: Client, store: SqliteStore, world: World, query: dict[str, str]
) -> None:
    """As of a cache that is not ready: TestRetryAfterForUnreadyCache and KEP-4568."""
    await client.list(CONFIGMAPS)
    await damage(store, "a")
    asked = {key: [value] for key, value in query.items()}
    answer = await client.send("GET", PATH, query=asked)
    assert (answer.status, answer.body["reason"]) == (429, "TooManyRequests")
    assert (answer.body["message"], answer.headers["retry-after"]) == ("storage is (re)initializing", "1")
    for seconds, after in ((14, "2"), (36, "20"), (3600, "30")):
        await world.clock.sleep(seconds)
        assert (await client.send("GET", PATH, query=asked)).headers["retry-after"] == after


async def test_who_watches_must_list_again_and_can_once_it_is_gone(client: Client, store: SqliteStore) -> None:
    listed = await client.list(CONFIGMAPS)
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        assert (await next_event(watch)).type == "ADDED"
        await damage(store, "a")
        with pytest.raises(StopAsyncIteration):
            await next_event(watch)
    answer = await client.send("GET", PATH, query={"watch": ["1"]})
    assert (answer.status, answer.body["reason"]) == (429, "TooManyRequests")
    assert (answer.body["message"], answer.headers["retry-after"]) == ("storage is (re)initializing", "1")
    await client.request("DELETE", f"{PATH}/a", body=UNSAFE)
    assert names((await client.list(CONFIGMAPS, namespace="default")).items) == []
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        gone = await next_event(watch)
    assert (gone.type, gone.object["reason"]) == ("ERROR", "Expired")


async def test_one_that_is_mended_is_there_again(client: Client, store: SqliteStore) -> None:
    made = await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    kept = (await store.range(Range(b"/registry/configmaps/default/a"))).kvs[0].value
    await damage(store, "a")
    with pytest.raises(ApiError):
        await client.list(CONFIGMAPS)
    await damage(store, "a", kept)
    assert (await client.get(CONFIGMAPS, "a", namespace="default"))["metadata"]["uid"] == made["metadata"]["uid"]
    assert names((await client.list(CONFIGMAPS, namespace="default")).items) == ["a"]


async def test_a_server_starts_with_what_it_cannot_read(client: Client, store: SqliteStore, world: World) -> None:
    await damage(store, "a")
    second = ApiServer(world, store)
    await second.start()
    try:
        other = Client(InProcessTransport(second, ADMIN), user_agent="test")
        assert (await other.send("GET", PATH, query={"limit": ["500"]})).body["reason"] == "StorageReadError"
        await other.request("DELETE", f"{PATH}/a", body=UNSAFE)
        assert (await other.list(CONFIGMAPS, namespace="default")).items == []
    finally:
        await second.stop()


VALUES: dict[str, tuple[bytes, str]] = {
    "cut off": (b'{"kind":', "unexpected end of JSON input"),
    "a flipped bit": (b'{"kind":"ConfigMap",\xfd}', "invalid character 'ý' looking for beginning of object key string"),
    "no object": (b"[1]", "json: the value is no object with metadata"),
    "no metadata": (b'{"kind":"ConfigMap"}', "json: the value is no object with metadata"),
}


@pytest.mark.parametrize("row", VALUES.values(), ids=VALUES.keys())
async def test_what_is_no_object(client: Client, store: SqliteStore, row: tuple[bytes, str]) -> None:
    value, why = row
    revision = await damage(store, "a", value)
    answer = await client.send("GET", f"{PATH}/a")
    assert answer.body["message"] == f"Internal error occurred: {text('a', revision, why, prefix='')}"


# -- values with wrong types

DEPLOYMENT = (
    '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a","namespace":"default","uid":"1"},"spec":{"replicas":1,'
    '"selector":{"matchLabels":{"x":"y"}},"template":{"metadata":{"labels":{"x":"y"}},"spec":{"containers":[{"name":"c"}]}}}}'
)
TYPES: dict[str, tuple[str, str, str]] = {
    "text for a number": (
        '"replicas":1',
        '"replicas":"3"',
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    "an object for a list": (
        '[{"name":"c"}]',
        "{}",
        "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type "
        "[]v1.Container",
    ),
    "a number for a label": (
        '"labels":{"x":"y"}',
        '"labels":{"x":1}',
        "json: cannot unmarshal number into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
    ),
    "no time": (
        '"uid":"1"',
        '"uid":"1","creationTimestamp":"today"',
        'parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006"',
    ),
}
DEPLOYMENTS_KEY = "/registry/deployments/default/a"


@pytest.mark.parametrize("cached", [False, True], ids=["met at first", "met as an event"])
@pytest.mark.parametrize("row", TYPES.values(), ids=TYPES.keys())
async def test_what_has_wrong_types_cannot_be_read(
    client: Client, store: SqliteStore, row: tuple[str, str, str], cached: bool
) -> None:
    part, wrong, why = row
    assert part in DEPLOYMENT
    if cached:
        await client.list(DEPLOYMENTS)
    revision = (await store.txn([], [Put(DEPLOYMENTS_KEY.encode(), DEPLOYMENT.replace(part, wrong).encode())])).revision
    text = (
        f"StorageError: corrupt object, Code: 7, Key: {DEPLOYMENTS_KEY}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"object not decodable revision={revision}: {why}"
    )
    path = DEPLOYMENTS.path("default", "a")
    got = await client.send("GET", path)
    assert (got.status, got.body["message"]) == (500, f"Internal error occurred: {text}".replace("/registry", ""))
    for version in ("", "0"):
        listed = await client.send(
            "GET", DEPLOYMENTS.path("default"), query={"resourceVersion": [version], "limit": ["9"]}
        )
        assert (listed.status, listed.body["reason"]) == (500, "StorageReadError")
        assert [cause["message"] for cause in listed.body["details"]["causes"]] == [text]
        assert listed.body["message"] == f"failed to read one or more deployments.apps from the storage: {text}"
    await client.request("DELETE", path, body=UNSAFE)
    assert (await client.list(DEPLOYMENTS)).items == []


async def test_what_fits_may_come_from_anywhere(client: Client, store: SqliteStore) -> None:
    for cached in (False, True):
        await store.txn([], [Put(DEPLOYMENTS_KEY.encode(), DEPLOYMENT.encode())])
        assert names((await client.list(DEPLOYMENTS)).items) == ["a"], cached
        assert (await client.get(DEPLOYMENTS, "a", namespace="default"))["spec"]["replicas"] == 1
        await client.delete(DEPLOYMENTS, "a", namespace="default")


# -- the delete that takes it away

NEEDLESS = (
    'configmaps "a" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is exclusively '
    "used to delete corrupt object(s), try again by removing this option"
)
FORBIDDEN = 'configmaps "a" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: '


@pytest.mark.parametrize("there", [False, True], ids=["not there", "readable"])
async def test_what_is_not_deleted_so(client: Client, there: bool) -> None:
    if there:
        await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    answer = await client.send("DELETE", f"{PATH}/a", body=UNSAFE)
    assert (answer.status, answer.body["message"]) == (422, NEEDLESS)
    assert answer.body["details"]["kind"] == "configmaps"


async def test_it_needs_a_right_of_its_own(client: Client, client_for: ClientFor, store: SqliteStore) -> None:
    rules = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "delete"]}
    await client.create(ROLES, role("r", rules), namespace="default")
    await client.create(ROLE_BINDINGS, binding("r", "r", user("croc")), namespace="default")
    croc = client_for("croc")
    held = config_map("a")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await client.create(CONFIGMAPS, held, namespace="default")
    await damage(store, "a")
    refused = await croc.send("DELETE", f"{PATH}/a", body=UNSAFE)
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert refused.body["message"] == FORBIDDEN
    wider = {**rules, "verbs": ["get", "delete", "unsafe-delete-ignore-read-errors"]}
    await client.patch(ROLES, "r", {"rules": [wider]}, namespace="default")
    done = await croc.send("DELETE", f"{PATH}/a", query={OPTION: ["true"]})
    assert (done.status, done.body["status"]) == (200, "Success")
    assert (done.body["details"], done.body["code"]) == ({"name": "a", "kind": "ConfigMap"}, 200)
    assert (await croc.send("GET", f"{PATH}/a")).status == 404


OTHERS: dict[str, Object] = {
    "dryRun": {"dryRun": ["All"]},
    "propagationPolicy": {"propagationPolicy": "Background"},
    "orphanDependents": {"orphanDependents": True},
    "gracePeriodSeconds": {"gracePeriodSeconds": 0},
    "preconditions": {"preconditions": {}},
}


@pytest.mark.parametrize("field", OTHERS)
async def test_it_goes_with_no_other_option(client: Client, field: str) -> None:
    answer = await client.send("DELETE", f"{PATH}/a", body={**UNSAFE, **OTHERS[field]})
    assert (answer.status, answer.body["message"]) == (
        422,
        f'DeleteOptions.meta.k8s.io "" is invalid: {OPTION}: Invalid value: true: cannot be set together with .{field}',
    )


async def test_it_is_for_one_object(client: Client) -> None:
    answer = await client.send("DELETE", PATH, body=UNSAFE)
    assert (answer.status, answer.body["message"]) == (
        422,
        f'DeleteOptions.meta.k8s.io "" is invalid: {OPTION}: Invalid value: true: is not allowed with '
        "DELETECOLLECTION, try again after removing the option",
    )


ODD = b"/registry/configmaps/default/b\xff"


@pytest.mark.parametrize("version", ["", "0"])
async def test_a_key_that_is_no_text_is_shown_as_far_as_it_goes(
    client: Client, store: SqliteStore, version: str
) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    listed = await client.list(CONFIGMAPS)  # from here on there is a cache
    await store.txn([], [Put(ODD, b"x")])
    answer = await client.send("GET", PATH, query={"resourceVersion": [version], "limit": ["500"]})
    assert (answer.status, answer.body["reason"]) == (500, "StorageReadError")
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == [ODD.decode(errors="replace")]
    await store.txn([], [DeleteRange(ODD)])
    await client.create(CONFIGMAPS, config_map("c"), namespace="default")
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        assert (await next_event(watch)).type == "ERROR"
    assert names((await client.list(CONFIGMAPS, namespace="default", resource_version=version or None)).items) == [
        "a",
        "c",
    ]


async def test_pages_lead_past_a_key_that_is_no_text(client: Client, store: SqliteStore) -> None:
    for name in ("a", "c"):
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    await store.txn([], [Put(ODD, b'{"kind":"ConfigMap","metadata":{"name":"odd","namespace":"default"}}')])
    found, token = [], ""
    while True:
        page = await client.list(CONFIGMAPS, namespace="default", limit=1, continue_=token)
        found += names(page.items)
        if not (token := page.continue_):
            break
    assert found == ["a", "odd", "c"]


UNFIT = (
    b'{"metadata":null}',
    b'{"metadata":[]}',
    b'{"metadata":{}}',
    b'{"metadata":{"name":1}}',
    b'{"metadata":{"name":"a","namespace":2}}',
    b'{"metadata":{"name":"a","namespace":"default","labels":[]}}',
    b'{"metadata":{"name":"a","namespace":"default","finalizers":{}}}',
    b'{"metadata":{"name":"a","namespace":"default"},"spec":[]}',
    b"[]",
    b"",
)


async def test_what_has_not_the_form_of_an_object_ends_no_watch_cache(client: Client, store: SqliteStore) -> None:
    await client.create(CONFIGMAPS, config_map("b"), namespace="default")
    await client.list(CONFIGMAPS)
    for value in UNFIT:
        await damage(store, "a", value)
        for version in ("", "0"):
            answer = await client.send("GET", PATH, query={"resourceVersion": [version], "limit": ["500"]})
            assert (answer.status, answer.body["reason"]) == (500, "StorageReadError"), value
    await store.txn([], [DeleteRange(b"/registry/configmaps/default/a")])
    listed = await client.list(CONFIGMAPS, resource_version="0")
    async with await client.watch(CONFIGMAPS, resource_version=listed.resource_version) as watch:
        await client.create(CONFIGMAPS, config_map("c"), namespace="default")
        assert (await next_event(watch)).object["metadata"]["name"] == "c"


async def test_what_lacks_but_its_uid_can_be_deleted(client: Client, store: SqliteStore) -> None:
    await damage(store, "a", b'{"kind":"ConfigMap","metadata":{"name":"a","namespace":"default","labels":null}}')
    answer = await client.send("DELETE", f"{PATH}/a")
    assert (answer.status, answer.body["details"]) == (200, {"name": "a", "kind": "configmaps"})
