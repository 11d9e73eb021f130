"""The FlowSchemas and PriorityLevelConfigurations of a new cluster."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import GVR, PODS, Object
from engine.client import Client
from engine.world import World
from tests.apiserver.conftest import ClientFor

GROUP = "flowcontrol.apiserver.k8s.io"
SCHEMAS = GVR(GROUP, "v1", "flowschemas")
LEVELS = GVR(GROUP, "v1", "prioritylevelconfigurations")

ORDER = {
    "exempt": (1, "exempt"),
    "probes": (2, "exempt"),
    "system-leader-election": (100, "leader-election"),
    "endpoint-controller": (150, "workload-high"),
    "workload-leader-election": (200, "leader-election"),
    "system-node-high": (400, "node-high"),
    "system-nodes": (500, "system"),
    "kube-controller-manager": (800, "workload-high"),
    "kube-scheduler": (800, "workload-high"),
    "kube-system-service-accounts": (900, "workload-high"),
    "service-accounts": (9000, "workload-low"),
    "global-default": (9900, "global-default"),
    "catch-all": (10000, "catch-all"),
}


async def test_a_cluster_is_born_with_upstreams_schemas_and_levels(client: Client) -> None:
    schemas = (await client.list(SCHEMAS)).items
    found = {
        each["metadata"]["name"]: (
            each["spec"]["matchingPrecedence"], each["spec"]["priorityLevelConfiguration"]["name"]
        )
        for each in schemas
    }  # fmt: skip
    assert found == ORDER
    levels = {each["metadata"]["name"]: each["spec"] for each in (await client.list(LEVELS)).items}
    assert set(levels) == {level for _, level in ORDER.values()}
    shares = {name: spec["limited"]["nominalConcurrencyShares"] for name, spec in levels.items() if "limited" in spec}
    assert shares == {
        "catch-all": 5, "system": 30, "node-high": 40, "leader-election": 10, "workload-high": 40, "workload-low": 100,
        "global-default": 20,
    }  # fmt: skip
    assert levels["exempt"]["type"] == "Exempt"
    assert all(each["status"]["conditions"][0]["status"] == "False" for each in schemas)


async def test_they_are_what_the_server_itself_would_take(client: Client) -> None:
    """Sending each of them back changes nothing, and nothing of it is invalid."""
    for gvr in (SCHEMAS, LEVELS):
        for each in (await client.list(gvr)).items:
            again = await client.update(gvr, each)
            assert again["metadata"]["resourceVersion"] == each["metadata"]["resourceVersion"]


def level(name: str, **metadata: Any) -> Object:
    limited = {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}
    return {"metadata": {"name": name, **metadata}, "spec": {"type": "Limited", "limited": limited}}


def schema(name: str, level: str) -> Object:
    return {"metadata": {"name": name}, "spec": {"priorityLevelConfiguration": {"name": level}}}


async def dangling(client: Client, name: str) -> tuple[str, str]:
    (found,) = (await client.get(SCHEMAS, name))["status"]["conditions"]
    return found["status"], found["reason"]


AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
# What somebody makes of a suggested level of 40 shares, and what it has a minute later: shares and annotation.
CHANGED: dict[str, tuple[str | None, int, tuple[int, str]]] = {
    "it is the server's, and changed": ("true", 7, (40, "true")),
    "it is somebody's, and changed": ("false", 7, (7, "false")),
    "nobody says whose it is, and it is changed": (None, 7, (7, "false")),
    "nobody says whose it is": (None, 40, (40, "true")),
    "what is said is no word, and it is changed": ("maybe", 7, (7, "false")),
}


@pytest.mark.parametrize("name", CHANGED)
async def test_a_suggested_level_is_put_right_unless_somebody_has_taken_it_over(
    name: str, client: Client, world: World
) -> None:
    said, shares, expected = CHANGED[name]
    annotations, limited = {AUTO_UPDATE: said}, {"nominalConcurrencyShares": shares}
    await client.patch(LEVELS, "node-high", {"metadata": {"annotations": annotations}, "spec": {"limited": limited}})
    await world.clock.sleep(61)
    found = await client.get(LEVELS, "node-high")
    assert (found["spec"]["limited"]["nominalConcurrencyShares"], found["metadata"]["annotations"][AUTO_UPDATE]) == (
        expected
    )


async def test_mandatory_ones_are_put_right_and_what_is_gone_comes_back(client: Client, world: World) -> None:
    await client.delete(SCHEMAS, "probes")
    await client.delete(LEVELS, "exempt")
    await client.patch(SCHEMAS, "catch-all", {"metadata": {"annotations": {AUTO_UPDATE: "false"}}})
    await world.clock.sleep(61)
    assert (await client.get(LEVELS, "exempt"))["spec"]["type"] == "Exempt"
    assert (await client.get(SCHEMAS, "catch-all"))["metadata"]["annotations"] == {AUTO_UPDATE: "true"}
    assert await dangling(client, "probes") == ("False", "Found")


async def test_how_much_of_the_exempt_level_is_lent_is_the_administrators(client: Client, world: World) -> None:
    await client.patch(LEVELS, "exempt", {"spec": {"exempt": {"lendablePercent": 50}}})
    before = await client.get(LEVELS, "exempt")
    await world.clock.sleep(61)
    assert await client.get(LEVELS, "exempt") == before


async def test_what_is_said_to_be_the_servers_and_is_not_goes(client: Client, world: World) -> None:
    await client.create(LEVELS, level("old", annotations={AUTO_UPDATE: "true"}))
    await client.create(LEVELS, level("mine"))
    await client.create(LEVELS, level("yours", annotations={AUTO_UPDATE: "maybe"}))
    await world.clock.sleep(61)
    names = {each["metadata"]["name"] for each in (await client.list(LEVELS)).items}
    assert {"old", "mine", "yours"} & names == {"mine", "yours"}


async def test_a_schema_says_whether_its_level_exists(client: Client, world: World) -> None:
    await client.create(SCHEMAS, schema("web", "mine"))
    await world.clock.sleep(1)
    assert await dangling(client, "web") == ("True", "NotFound")
    await client.create(LEVELS, level("mine"))
    await world.clock.sleep(1)
    assert await dangling(client, "web") == ("False", "Found")
    found = await client.get(SCHEMAS, "web")
    manager = "api-priority-and-fairness-config-consumer-v1"
    assert (manager, "Apply") in {(each["manager"], each["operation"]) for each in found["metadata"]["managedFields"]}
    await client.delete(LEVELS, "mine")
    await world.clock.sleep(1)
    assert await dangling(client, "web") == ("True", "NotFound")


async def test_a_schema_counts_for_the_next_request(client: Client, client_for: ClientFor) -> None:
    jane = client_for("jane", "system:masters-of-none")
    uids: dict[str, str] = {
        each["metadata"]["uid"]: each["metadata"]["name"] for each in (await client.list(SCHEMAS)).items
    }

    async def flow() -> str:
        answer = await jane.send("GET", PODS.path("default"))
        return uids.get(answer.headers["x-kubernetes-pf-flowschema-uid"], "")

    assert [await flow() for _ in range(2)] == ["global-default"] * 2
    rule = {
        "subjects": [{"kind": "User", "user": {"name": "jane"}}],
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}],
    }
    spec = {"matchingPrecedence": 7, "priorityLevelConfiguration": {"name": "workload-low"}, "rules": [rule]}
    made = await client.create(SCHEMAS, {"metadata": {"name": "janes"}, "spec": spec})
    uids[made["metadata"]["uid"]] = "janes"
    assert await flow() == "janes"
    await client.delete(SCHEMAS, "janes")
    assert await flow() == "global-default"
