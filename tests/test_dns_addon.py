"""The Service kube-dns of a new cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.types import SERVICES, Object
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig, Component

NAMESPACE = "kube-system"
NETWORK = frozenset({Component.NETWORK, Component.CONTROLLERS})


async def found(cluster: Cluster) -> Object | None:
    await cluster.world.clock.sleep(1)
    listed = (await cluster.client().list(SERVICES, namespace=NAMESPACE)).items
    return next((service for service in listed if service["metadata"]["name"] == "kube-dns"), None)


async def test_a_cluster_with_names_has_the_service_that_containers_are_told_to_ask(
    virtual_clock: VirtualClock,
) -> None:
    async with Cluster(ClusterConfig(components=NETWORK, nodes=[]), clock=virtual_clock) as cluster:
        service = await found(cluster)
        assert service is not None
        assert service["spec"]["clusterIP"] == "10.96.0.10"
        assert [(each["name"], each["protocol"], each["port"]) for each in service["spec"]["ports"]] == [
            ("dns", "UDP", 53),
            ("dns-tcp", "TCP", 53),
            ("metrics", "TCP", 9153),
        ]
        assert service["metadata"]["labels"] == {
            "k8s-app": "kube-dns",
            "kubernetes.io/cluster-service": "true",
            "kubernetes.io/name": "CoreDNS",
        }
        assert "no Pods of CoreDNS run" in service["metadata"]["annotations"]["ktui.io/simulated"]


async def test_a_cluster_that_starts_again_finds_it_there_without_a_word(
    virtual_clock: VirtualClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    uids = []
    for _ in range(2):
        config = ClusterConfig(components=NETWORK, nodes=[], data_folder=tmp_path)
        async with Cluster(config, clock=virtual_clock) as cluster:
            service = await found(cluster)
            assert service is not None
            uids.append(service["metadata"]["uid"])
    assert uids[0] == uids[1]
    assert not [each.message for each in caplog.records if "kube-dns" in each.message]


WITHOUT = {
    "no part answers for names": ClusterConfig(components=frozenset({Component.CONTROLLERS}), nodes=[]),
    "no room in the range": ClusterConfig(components=NETWORK, nodes=[], service_cidr="10.0.0.0/29"),
}


@pytest.mark.parametrize("config", WITHOUT.values(), ids=WITHOUT)
async def test_others_have_none(virtual_clock: VirtualClock, config: ClusterConfig) -> None:
    async with Cluster(config, clock=virtual_clock) as cluster:
        assert await found(cluster) is None
