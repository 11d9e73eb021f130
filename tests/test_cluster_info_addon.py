"""The ConfigMap cluster-info of a cluster that is served."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, Object
from engine.api.wire import Request
from engine.cluster import Cluster
from engine.config import ClusterConfig, Component
from tests.kept_pki import kept_pki

NAMESPACE, NAME = "kube-public", "cluster-info"
CONTROLLERS = frozenset({Component.CONTROLLERS})


async def found(cluster: Cluster) -> Object:
    """Once it is there."""
    async with asyncio.timeout(30):
        while True:
            listed = (await cluster.client().list(CONFIGMAPS, namespace=NAMESPACE)).items
            if (known := next((each for each in listed if each["metadata"]["name"] == NAME), None)) is not None:
                return known
            await cluster.world.clock.sleep(0.02)


async def test_everybody_may_read_where_a_cluster_is(tmp_path: Path) -> None:
    """After a restart elsewhere it says so, and keeps what signers put into it."""
    pki = kept_pki(tmp_path / "pki", ["127.0.0.1"], datetime.now(UTC))
    ca = pki.authority.pair.certificate
    config = ClusterConfig(components=CONTROLLERS, nodes=[], root_ca=ca.decode(), data_folder=tmp_path / "data")
    (tmp_path / "data").mkdir()
    addresses = []
    for start in range(2):
        cluster = Cluster(config)
        try:
            await cluster.start_api_server()
            await cluster.serve(pki.server_context(tmp_path / "pki"), port=0)
            await cluster.start_components()
            addresses.append(cluster.address)
            info = await found(cluster)
            async with asyncio.timeout(30):
                while cluster.address not in info["data"]["kubeconfig"]:
                    await cluster.world.clock.sleep(0.02)
                    info = await found(cluster)
            said = yaml.safe_load(info["data"]["kubeconfig"])
            assert said == {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [
                    {
                        "name": "",
                        "cluster": {
                            "certificate-authority-data": base64.b64encode(ca).decode(),
                            "server": cluster.address,
                        },
                    }
                ],
                "contexts": None,
                "users": None,
                "current-context": "",
            }
            path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{NAME}"
            async with asyncio.timeout(30):
                while (await cluster.api_server.handle(Request("GET", path))).status != 200:
                    await cluster.world.clock.sleep(0.02)
            if start == 0:
                data = {**info["data"], "other": "kept"}
                await cluster.client().update(CONFIGMAPS, {**await found(cluster), "data": data})
            else:
                assert info["data"]["other"] == "kept"
        finally:
            await cluster.stop()
    assert addresses[0] != addresses[1]


async def test_one_that_is_not_served_has_none() -> None:
    async with Cluster(ClusterConfig(components=CONTROLLERS, nodes=[])) as cluster:
        with pytest.raises(ApiError) as missing:
            await cluster.client().get(CONFIGMAPS, NAME, namespace=NAMESPACE)
        assert missing.value.code == 404
