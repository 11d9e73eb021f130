"""Where groups and versions stand in discovery, and whose they are: upstream's integration tests of discovery
(test/integration/apiserver/discovery), with API servers behind APIServices that there are none of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson
import pytest

from engine.api.discovery import AGGREGATED_MEDIA_TYPE
from engine.api.types import GVR, Object
from engine.client import Client
from engine.world import World

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
GROUP = "stable.example.com"
Versions = list[tuple[str, str]]


async def get(client: Client, path: str, accept: str = "application/json") -> Object:
    body = (await client.send("GET", path, headers={"accept": accept})).body
    document: Object = orjson.loads(body) if isinstance(body, bytes) else body
    return document


async def legacy(client: Client) -> Versions:
    groups = (await get(client, "/apis"))["groups"]
    return [(group["name"], version["version"]) for group in groups for version in group["versions"]]


async def aggregated(client: Client) -> list[tuple[str, str, str, list[str]]]:
    groups = (await get(client, "/apis", AGGREGATED_MEDIA_TYPE))["items"]
    return [
        (
            group["metadata"]["name"],
            version["version"],
            version["freshness"],
            [each["resource"] for each in version.get("resources", ())],
        )
        for group in groups
        for version in group["versions"]
    ]


async def until(world: World, client: Client, seen: Callable[[Versions], bool]) -> Versions:
    """The groups and versions of both documents, which must be the same, once they are as they should."""
    async with asyncio.timeout(30):
        while not seen(listed := await legacy(client)) or listed != [each[:2] for each in await aggregated(client)]:
            await world.clock.sleep(0.1)
    return listed


async def serve_elsewhere(client: Client, version: str, group: int = 1000, place: int = 15) -> None:
    spec = {
        "group": GROUP,
        "version": version,
        "groupPriorityMinimum": group,
        "versionPriority": place,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "default", "name": "unused"},
    }
    metadata = {"name": f"{version}.{GROUP}"}
    kind = {"apiVersion": API_SERVICES.api_version, "kind": "APIService"}
    await client.create(API_SERVICES, {**kind, "metadata": metadata, "spec": spec})


async def define(client: Client, group: str, *versions: str, plural: str = "bars") -> None:
    kind = plural.removesuffix("s").capitalize()
    schema = {"openAPIV3Schema": {"type": "object"}}
    listed = [
        {"name": version, "served": True, "storage": number == 0, "schema": schema}
        for number, version in enumerate(versions)
    ]
    spec = {"group": group, "scope": "Cluster", "names": {"plural": plural, "kind": kind}, "versions": listed}
    approved = {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1111"}
    metadata = {"name": f"{plural}.{group}", "annotations": approved}
    made = {"apiVersion": DEFINITIONS.api_version, "kind": "CustomResourceDefinition", "metadata": metadata}
    await client.create(DEFINITIONS, {**made, "spec": spec})


def of_group(listed: Versions) -> list[str]:
    return [version for group, version in listed if group == GROUP]


async def test_a_group_stands_where_its_highest_priority_puts_it(world: World, client: Client) -> None:
    await serve_elsewhere(client, "v1", 20000)
    await serve_elsewhere(client, "v1alpha1", 1)
    await serve_elsewhere(client, "v1alpha2", 17300)
    listed = await until(world, client, lambda listed: len(of_group(listed)) == 3)
    assert listed[:2] == [("apiregistration.k8s.io", "v1"), (GROUP, "v1")]
    await client.delete(API_SERVICES, f"v1.{GROUP}")
    await client.delete(API_SERVICES, f"v1alpha2.{GROUP}")
    listed = await until(world, client, lambda listed: of_group(listed) == ["v1alpha1"])
    assert listed[-1] == (GROUP, "v1alpha1")


@pytest.mark.parametrize(
    ("places", "order"),
    [
        ({"v1": 2, "v1alpha1": 1, "v1alpha2": 3}, ["v1alpha2", "v1", "v1alpha1"]),
        (
            dict.fromkeys(("v1", "v1alpha1", "v1alpha2", "v1beta1", "v2"), 15),
            ["v2", "v1", "v1beta1", "v1alpha2", "v1alpha1"],
        ),
    ],
)
async def test_versions_stand_by_priority_and_then_as_kubernetes_compares_them(
    world: World, client: Client, places: dict[str, int], order: list[str]
) -> None:
    for version, place in places.items():
        await serve_elsewhere(client, version, place=place)
    listed = await until(world, client, lambda listed: len(of_group(listed)) == len(order))
    assert of_group(listed) == order
    assert (await get(client, f"/apis/{GROUP}"))["preferredVersion"]["version"] == order[0]


async def test_a_version_that_is_given_to_another_server_is_its_own(world: World, client: Client) -> None:
    """Also where a definition has it: it is listed once and stale, and is the definition's once the APIService goes."""
    await serve_elsewhere(client, "v1")
    await define(client, GROUP, "v1", "v2")
    await until(world, client, lambda listed: of_group(listed) == ["v2", "v1"])
    found = [each[1:] for each in await aggregated(client) if each[0] == GROUP]
    assert found == [("v2", "Current", ["bars"]), ("v1", "Stale", [])]
    paths = (await get(client, "/"))["paths"]
    assert [path for path in paths if GROUP in path] == [f"/apis/{GROUP}", f"/apis/{GROUP}/v1", f"/apis/{GROUP}/v2"]
    for path in f"/apis/{GROUP}/v1", f"/apis/{GROUP}/v1/bars":
        assert (await client.send("GET", path)).body == b"service unavailable\n"
    assert (await get(client, f"/apis/{GROUP}/v2/bars"))["items"] == []
    await client.delete(API_SERVICES, f"v1.{GROUP}")
    async with asyncio.timeout(30):
        while (GROUP, "v1", "Current", ["bars"]) not in await aggregated(client):
            await world.clock.sleep(0.1)
    assert (await get(client, f"/apis/{GROUP}/v1/bars"))["items"] == []


async def test_what_goes_elsewhere_is_among_the_paths_until_it_goes(world: World, client: Client) -> None:
    await serve_elsewhere(client, "v1")
    await until(world, client, lambda listed: of_group(listed) == ["v1"])
    assert f"/apis/{GROUP}" in (await get(client, "/"))["paths"]
    await client.delete(API_SERVICES, f"v1.{GROUP}")
    await until(world, client, lambda listed: not of_group(listed))
    assert f"/apis/{GROUP}" not in (await get(client, "/"))["paths"]


async def test_a_version_that_is_built_in_has_nothing_of_definitions(world: World, client: Client) -> None:
    group = "apiextensions.k8s.io"
    await define(client, group, "v1", "v2", "vfake")
    await until(world, client, lambda listed: (group, "vfake") in listed)
    found = {each[1]: each[3] for each in await aggregated(client) if each[0] == group}
    assert found == {"v2": ["bars"], "vfake": ["bars"], "v1": ["customresourcedefinitions"]}
    names = [each["name"] for each in (await get(client, f"/apis/{group}/v1"))["resources"]]
    assert names == ["customresourcedefinitions", "customresourcedefinitions/status"]
    assert (await client.send("GET", f"/apis/{group}/v1/bars")).status == 404
    assert (await get(client, f"/apis/{group}/vfake/bars"))["items"] == []
    await client.delete(DEFINITIONS, f"bars.{group}")
    await until(world, client, lambda listed: (group, "vfake") not in listed)


async def test_groups_of_one_priority_stand_by_name(world: World, client: Client) -> None:
    """`/apis` goes by the names of APIServices, the aggregated document by those of the groups."""
    await define(client, "a.example.com", "v2")
    await define(client, "b.example.com", "v1")
    ours = ("a.example.com", "b.example.com")
    assert [each[0] for each in await aggregated(client) if each[0] in ours] == ["a.example.com", "b.example.com"]
    assert [each[0] for each in await legacy(client) if each[0] in ours] == ["b.example.com", "a.example.com"]
