"""Bootstrap tokens go when their time is over, and sign what anybody may read of the cluster (upstream's
tokencleaner_test.go, bootstrapsigner_test.go and cluster-bootstrap token/jws jws_test.go)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engine.api.types import CLUSTER_ROLE_BINDINGS, CONFIGMAPS, SECRETS, Object
from engine.api.wire import Request
from engine.controllers.bootstrap import BootstrapSigner, TokenCleaner
from engine.controllers.bootstrap.signer import detached_signature
from engine.world import World
from tests.controllers.cluster import TestCluster, running
from tests.controllers.test_certificates import answered, asked, served

TYPE = "bootstrap.kubernetes.io/token"
VALUE = "0123456789abcdef"
INFO = "kubeconfig"


def token(identity: str, *, name: str = "", type: str = TYPE, **data: str) -> dict[str, Any]:
    known = {"token-id": identity, "token-secret": VALUE, "usage-bootstrap-signing": "true"}
    return {
        "apiVersion": "v1", "kind": "Secret", "type": type,
        "metadata": {"name": name or f"bootstrap-token-{identity}"}, "stringData": {**known, **data},
    }  # fmt: skip


def at(world: World, seconds: float) -> str:
    """A time that many seconds from now."""
    return (world.clock.now() + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


async def test_a_token_goes_when_its_time_is_over(world: World) -> None:
    later = at(world, 3600)
    rows = {
        "over": (token("aaaaaa", expiration=at(world, -3600)), "kube-system"),
        "no time": (token("bbbbbb", expiration="soon"), "kube-system"),
        "later": (token("cccccc", expiration=later), "kube-system"),
        "never": (token("dddddd"), "kube-system"),
        "another type": (token("eeeeee", type="Opaque", expiration=at(world, -3600)), "kube-system"),
        "elsewhere": (token("ffffff", expiration=at(world, -3600)), "default"),
    }
    async with running(world, controllers=(TokenCleaner,)) as cluster:
        for made, namespace in rows.values():
            await cluster.admin.create(SECRETS, made, namespace=namespace)

        async def left() -> set[str]:
            names = {each["metadata"]["name"] for each in await cluster.objects(SECRETS)}
            return {row for row, (made, _) in rows.items() if made["metadata"]["name"] in names}

        await world.clock.sleep(10)
        assert await left() == {"later", "never", "another type", "elsewhere"}
        await world.clock.sleep(3600)
        assert await left() == {"never", "another type", "elsewhere"}


def test_a_signature_is_as_upstreams() -> None:
    content = "Hello from the other side. I must have called a thousand times."
    assert detached_signature(content, "joshua", "my voice is my passcode") == (
        "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8"
    )


@pytest.fixture
def info() -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-info"}, "data": {"a": "b"}}


async def signatures(cluster: TestCluster) -> dict[str, str]:
    data: dict[str, str] = (await cluster.admin.get(CONFIGMAPS, "cluster-info", namespace="kube-public"))["data"]
    return {name.removeprefix("jws-kubeconfig-"): value for name, value in data.items() if name.startswith("jws-")}


async def test_each_token_signs_the_kubeconfig_of_the_cluster(world: World, info: Object) -> None:
    async with running(world, controllers=(BootstrapSigner,)) as cluster:
        await cluster.admin.create(CONFIGMAPS, info, namespace="kube-public")
        for made in (
            token("aaaaaa"),
            token("bbbbbb", **{"usage-bootstrap-signing": "no"}),
            token("cccccc", expiration=at(world, -60)),
            token("dddddd", name="bootstrap-token-another"),
            token("eeeeee", **{"token-secret": ""}),
            token("ffffff", type="Opaque"),
        ):
            await cluster.admin.create(SECRETS, made, namespace="kube-system")
        await world.clock.sleep(5)
        assert await signatures(cluster) == {}  # there is nothing to sign yet
        kubeconfig = {"data": {INFO: "one", "jws-kubeconfig-gone": "x"}}
        await cluster.admin.patch(CONFIGMAPS, "cluster-info", kubeconfig, namespace="kube-public")
        await world.clock.sleep(5)
        assert await signatures(cluster) == {"aaaaaa": detached_signature("one", "aaaaaa", VALUE)}

        await cluster.admin.patch(CONFIGMAPS, "cluster-info", {"data": {INFO: "two"}}, namespace="kube-public")
        await cluster.admin.create(SECRETS, token("gggggg"), namespace="kube-system")
        await world.clock.sleep(5)
        wanted = {each: detached_signature("two", each, VALUE) for each in ("aaaaaa", "gggggg")}
        assert await signatures(cluster) == wanted

        await cluster.admin.delete(SECRETS, "bootstrap-token-aaaaaa", namespace="kube-system")
        await world.clock.sleep(5)
        assert set(await signatures(cluster)) == {"gggggg"}


async def test_a_node_joins_by_a_token(world: World) -> None:
    """TLS bootstrapping: who has a token may ask for the client certificate of a kubelet, which is approved and signed
    by itself (docs: kubelet-tls-bootstrapping)."""
    roles = {
        "system:node-bootstrapper": "join",
        "system:certificates.k8s.io:certificatesigningrequests:nodeclient": "approve",
    }
    async with running(world, config=served(world.clock.now())) as cluster:
        for role, name in roles.items():
            binding = {
                "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [
                    {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:bootstrappers"}
                ],
            }
            await cluster.admin.create(CLUSTER_ROLE_BINDINGS, binding)
        made = token("aaaaaa", **{"usage-bootstrap-authentication": "true"})
        await cluster.admin.create(SECRETS, made, namespace="kube-system")
        spec = {
            "request": asked("system:node:new", "system:nodes"),
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
        }
        body = {
            "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "mine"},
            "spec": spec,
        }  # fmt: skip
        headers = {"authorization": f"Bearer aaaaaa.{VALUE}", "content-type": "application/json"}
        path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
        answer = await cluster.api.handle(Request("POST", path, {}, headers, body))
        assert answer.status == 201
        assert answer.body["spec"]["username"] == "system:bootstrap:aaaaaa"
        assert (await answered(cluster))["certificate"]
