from __future__ import annotations

import base64

import pytest

from engine.api.errors import ApiError
from engine.api.legacy_tokens import TRACKING_CONFIG_MAP
from engine.api.types import CONFIGMAPS, GVR, NAMESPACES, PODS, Object
from engine.client import Client
from engine.store.sqlite import SqliteStore
from tests.apiserver.conftest import config_map, make_namespace, pod

TABLE = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def names(items: list[Object]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


async def fill(client: Client, count: int = 5) -> None:
    for number in range(count):
        labels = {"parity": "odd" if number % 2 else "even"}
        await client.create(CONFIGMAPS, config_map(f"c{number}", labels), namespace="default")


async def test_an_empty_list_has_a_revision(client: Client, store: SqliteStore) -> None:
    found = await client.list(CONFIGMAPS, namespace="default")
    assert (found.items, found.resource_version) == ([], str(store.revision))


async def test_lists_are_by_namespace_and_name(client: Client) -> None:
    await make_namespace(client, "a")
    await client.create(CONFIGMAPS, config_map("z"), namespace="a")
    await fill(client, 2)
    assert names((await client.list(CONFIGMAPS)).items) == ["z", "c0", "c1", TRACKING_CONFIG_MAP]
    assert names((await client.list(CONFIGMAPS, namespace="a")).items) == ["z"]


@pytest.mark.parametrize("version", [None, "0"])
async def test_selectors_choose(client: Client, version: str | None, default_account: Object) -> None:
    await fill(client)
    found = await client.list(CONFIGMAPS, label_selector="parity=odd", resource_version=version)
    assert names(found.items) == ["c1", "c3"]
    found = await client.list(CONFIGMAPS, field_selector="metadata.name=c2", resource_version=version)
    assert names(found.items) == ["c2"]
    await client.create(PODS, pod("free"), namespace="default")
    await client.create(PODS, pod("placed", nodeName="node-1"), namespace="default")
    for selector, expected in (
        ("spec.nodeName=node-1", ["placed"]),
        ("spec.host=node-1", ["placed"]),
        ("spec.nodeName=", ["free"]),
    ):
        found = await client.list(PODS, field_selector=selector, resource_version=version)
        assert names(found.items) == expected
    found = await client.list(PODS, namespace="kube-system", field_selector="spec.nodeName=node-1")
    assert found.items == []


async def test_a_field_that_cannot_be_selected_by(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await client.list(PODS, field_selector="spec.foo=bar")
    assert (caught.value.code, caught.value.message) == (400, "field label not supported: spec.foo")


JOBS = GVR("batch", "v1", "jobs")


async def test_jobs_say_so_in_words_of_their_own(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await client.list(JOBS, field_selector="status.succeeded=1")
    assert (caught.value.code, caught.value.message) == (400, 'field label "status.succeeded" not supported for Job')


async def test_pages_are_of_one_snapshot(client: Client) -> None:
    await fill(client)
    first = await client.list(CONFIGMAPS, namespace="default", limit=2)
    assert (names(first.items), first.remaining) == (["c0", "c1"], 3)
    await client.create(CONFIGMAPS, config_map("c11"), namespace="default")
    await client.delete(CONFIGMAPS, "c3", namespace="default")
    second = await client.list(CONFIGMAPS, namespace="default", limit=2, continue_=first.continue_)
    third = await client.list(CONFIGMAPS, namespace="default", limit=2, continue_=second.continue_)
    assert (names(second.items), names(third.items)) == (["c2", "c3"], ["c4"])
    assert third.continue_ == ""
    assert first.resource_version == second.resource_version == third.resource_version


async def test_pages_of_a_selection_do_not_say_how_many_remain(client: Client) -> None:
    await fill(client)
    first = await client.list(CONFIGMAPS, limit=1, label_selector="parity=odd")
    assert (names(first.items), first.remaining) == (["c1"], 0)
    second = await client.list(CONFIGMAPS, limit=1, label_selector="parity=odd", continue_=first.continue_)
    assert names(second.items) == ["c3"]


async def test_a_page_of_a_compacted_snapshot_is_gone_but_can_go_on(client: Client, store: SqliteStore) -> None:
    await fill(client)
    first = await client.list(CONFIGMAPS, namespace="default", limit=2)
    await client.create(CONFIGMAPS, config_map("c5"), namespace="default")
    await store.compact(store.revision)
    response = await client.send(
        "GET", CONFIGMAPS.path("default"), query={"limit": ["2"], "continue": [first.continue_]}
    )
    assert (response.status, response.body["reason"]) == (410, "Expired")
    rest = await client.list(CONFIGMAPS, namespace="default", continue_=response.body["metadata"]["continue"])
    assert names(rest.items) == ["c2", "c3", "c4", "c5"]


async def test_a_token_that_is_none(client: Client) -> None:
    foreign = base64.urlsafe_b64encode(b'{"v":"other","rv":1,"start":"x"}').decode()
    for token in ("nonsense!", foreign):
        with pytest.raises(ApiError) as caught:
            await client.list(CONFIGMAPS, limit=1, continue_=token)
        assert caught.value.code == 400


async def test_an_exact_revision_is_the_past(client: Client) -> None:
    await fill(client, 2)
    then = (await client.list(CONFIGMAPS, namespace="default")).resource_version
    await client.delete(CONFIGMAPS, "c0", namespace="default")
    exact = await client.list(CONFIGMAPS, namespace="default", resource_version=then, resource_version_match="Exact")
    assert (names(exact.items), exact.resource_version) == (["c0", "c1"], then)
    newer = await client.list(
        CONFIGMAPS, namespace="default", resource_version=then, resource_version_match="NotOlderThan"
    )
    assert names(newer.items) == ["c1"]


async def test_an_exact_revision_that_is_compacted(client: Client, store: SqliteStore) -> None:
    await fill(client, 2)
    then = (await client.list(CONFIGMAPS)).resource_version
    await fill_more(client)
    await store.compact(store.revision)
    with pytest.raises(ApiError) as caught:
        await client.list(CONFIGMAPS, resource_version=then, resource_version_match="Exact")
    assert (caught.value.code, caught.value.reason) == (410, "Expired")
    assert caught.value.message == "The resourceVersion for the provided list is too old."


async def fill_more(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("more"), namespace="default")


async def test_a_revision_of_the_future(client: Client) -> None:
    with pytest.raises(ApiError, match="Too large resource version: 100000") as caught:
        await client.list(CONFIGMAPS, resource_version="100000")
    assert (caught.value.code, caught.value.reason) == (504, "Timeout")


async def test_parameters_that_contradict(client: Client) -> None:
    with pytest.raises(ApiError, match="resourceVersionMatch is forbidden unless resourceVersion is provided"):
        await client.list(CONFIGMAPS, resource_version_match="Exact")


async def test_tables_are_made_by_the_server(client: Client, default_account: Object) -> None:
    await client.create(PODS, pod(), namespace="default")
    response = await client.send("GET", "/api/v1/namespaces/default/pods", headers={"accept": TABLE})
    table = response.body
    assert table["kind"] == "Table"
    assert [column["name"] for column in table["columnDefinitions"]][:5] == [
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
    ]
    assert table["rows"][0]["cells"][:4] == ["web", "0/1", "Pending", "0"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = await client.send(
        "GET",
        "/api/v1/namespaces/default/pods/web",
        headers={"accept": TABLE},
        query={"includeObject": ["Object"]},
    )
    assert whole.body["rows"][0]["object"]["kind"] == "Pod"


async def test_metadata_alone(client: Client) -> None:
    await fill(client, 1)
    listed = await client.send("GET", "/api/v1/configmaps", headers={"accept": PARTIAL_LIST})
    assert listed.body["kind"] == "PartialObjectMetadataList"
    assert listed.body["items"][0]["metadata"]["name"] == "c0"
    one = await client.send("GET", CONFIGMAPS.path("default", "c0"), headers={"accept": PARTIAL})
    assert set(one.body) == {"kind", "apiVersion", "metadata"}


async def test_a_form_that_is_not_made(client: Client) -> None:
    response = await client.send("GET", "/api/v1/configmaps", headers={"accept": "text/html"})
    assert (response.status, response.body["reason"]) == (406, "NotAcceptable")


async def test_paths_and_methods_that_there_are_not(client: Client) -> None:
    for path in ("/api/v1/nothings", "/apis/apps/v9/deployments", "/api/v1/namespaces/default/nodes"):
        response = await client.send("GET", path)
        assert (response.status, response.body["reason"]) == (404, "NotFound"), path
    for method, path in (("POST", "/api/v1/configmaps"), ("DELETE", "/api/v1/namespaces")):
        response = await client.send(method, path, body={})
        assert (response.status, response.body["reason"]) == (405, "MethodNotAllowed"), path


async def test_namespaces_are_read_from_cache_and_store_alike(client: Client) -> None:
    cached = await client.list(NAMESPACES, resource_version="0")
    stored = await client.list(NAMESPACES)
    assert cached.items == stored.items
