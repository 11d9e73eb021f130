"""The FlowSchemas and PriorityLevelConfigurations of a new cluster."""

from __future__ import annotations

from engine.api.types import GVR
from engine.client import Client

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
