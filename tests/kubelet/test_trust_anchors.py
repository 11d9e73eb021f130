"""ClusterTrustBundles that Pods project (KEP-3257; upstream's clustertrustbundle_manager_test.go and
projected_test.go)."""

from __future__ import annotations

from typing import Any

from engine.api.types import Object
from engine.kubelet.trust_anchors import TRUST_BUNDLES
from engine.pki import Authority
from engine.world import World
from tests.kubelet.node import Node, running

SIGNER = "example.com/mysigner"
FAILED = 'FailedMount: MountVolume.SetUp failed for volume "roots" : '


async def bundle(node: Node, name: str, *anchors: str, live: bool = True, signer: str = "") -> None:
    spec: Object = {"trustBundle": "".join(anchors)}
    if signer:
        spec["signerName"], name = signer, f"{signer.replace('/', ':')}:{name}"
    metadata = {"name": name, "labels": {"version": "live" if live else "old"}}
    await node.admin.create(TRUST_BUNDLES, {"metadata": metadata, "spec": spec})


async def run(node: Node, name: str, *sources: Object, **fields: Any) -> None:
    container: Object = {"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", "cat /roots/*; sleep 1h"]}
    container["volumeMounts"] = [{"name": "roots", "mountPath": "/roots"}]
    volume = {"name": "roots", "projected": {"sources": [{"clusterTrustBundle": source} for source in sources]}}
    await node.run(name, containers=[container], volumes=[volume], **fields)


def by_signer(**fields: Any) -> Object:
    return {"signerName": SIGNER, "path": "signer.pem", **fields}


async def test_a_pod_has_the_certificates_of_bundles(world: World) -> None:
    async with running(world) as node:
        one, two, three = (Authority.create(world.clock.now()).pair.certificate.decode() for _ in range(3))
        await bundle(node, "example", one)
        await bundle(node, "a", one, two, signer=SIGNER)
        await bundle(node, "b", two, signer=SIGNER)
        await bundle(node, "c", three, live=False, signer=SIGNER)
        found = {
            "by-name": ([{"name": "example", "path": "example.pem"}], {one}),
            "by-labels": ([by_signer(labelSelector={"matchLabels": {"version": "live"}})], {one, two}),
            "all": ([by_signer(labelSelector={})], {one, two, three}),
            "none": ([by_signer(optional=True), {"name": "nobody", "path": "x.pem", "optional": True}], set()),
        }
        for name, (sources, anchors) in found.items():
            await run(node, name, *sources)
            await node.ready(name)
            printed = "".join(f"{line}\n" for line in node.logs(name))
            assert printed.count("BEGIN") == len(anchors), name
            assert all(anchor in printed for anchor in anchors), name


async def test_one_for_somebody_else_is_theirs_alone(world: World) -> None:
    async with running(world) as node:
        await bundle(node, "example", Authority.create(world.clock.now()).pair.certificate.decode())
        await run(node, "web", {"name": "example", "path": "e.pem"}, securityContext={"runAsUser": 1000})
        await node.ready()
        assert node.logs("web")[0] == "-----BEGIN CERTIFICATE-----"


async def test_a_pod_waits_for_bundles_that_are_not_optional(world: World) -> None:
    async with running(world) as node:
        await run(node, "web", {"name": "example", "path": "e.pem"}, by_signer())
        assert await node.said("FailedMount") == (
            f'{FAILED}[while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "example" not found, '
            "combination of signerName and labelSelector matched zero ClusterTrustBundles]"
        )
        assert (await node.status())["phase"] == "Pending"
        await run(node, "next", {"name": "example", "path": "e.pem"})
        await node.said("FailedMount", "next")
        await bundle(node, "example", Authority.create(world.clock.now()).pair.certificate.decode())
        await node.ready("next")
