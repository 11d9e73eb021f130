"""The Lease of an API server (test/integration/controlplane/apiserver_identity_test.go,
pkg/controlplane/controller/apiserverleasegc gc_controller_test.go)."""

from __future__ import annotations

import re

from engine.api.types import LEASES, Object
from engine.apiserver.identity_lease import apiserver_id
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.clock import VirtualClock

WHO = "apiserver.kubernetes.io/identity=kube-apiserver"


async def leases(client: Client) -> list[Object]:
    return (await client.list(LEASES, namespace="kube-system", label_selector=WHO)).items


async def test_a_server_says_that_it_is_there(client: Client, virtual_clock: VirtualClock) -> None:
    (before,) = await leases(client)
    name = apiserver_id("default")
    assert before["metadata"]["name"] == name
    assert before["metadata"]["labels"]["kubernetes.io/hostname"] == "default"
    assert before["spec"]["holderIdentity"].startswith(f"{name}_")
    assert before["spec"]["leaseDurationSeconds"] == 3600
    await virtual_clock.sleep(10.5)
    (after,) = await leases(client)
    assert after["spec"]["renewTime"] > before["spec"]["renewTime"]
    assert {**after["spec"], "renewTime": ""} == {**before["spec"], "renewTime": ""}


def test_the_name_is_a_hash_of_the_hosts() -> None:
    assert re.fullmatch("apiserver-[a-z2-7]{26}", apiserver_id("kind-control-plane"))
    assert apiserver_id("a") != apiserver_id("b")


async def test_what_others_changed_or_deleted_is_mended(client: Client, virtual_clock: VirtualClock) -> None:
    (lease,) = await leases(client)
    name = lease["metadata"]["name"]
    await client.patch(LEASES, name, {"metadata": {"labels": {"mine": "too"}}}, namespace="kube-system")
    await virtual_clock.sleep(10.5)
    (renewed,) = await leases(client)
    assert renewed["metadata"]["labels"]["mine"] == "too"
    assert renewed["spec"]["renewTime"] > lease["spec"]["renewTime"]
    await client.delete(LEASES, name, namespace="kube-system")
    await virtual_clock.sleep(10.5)
    (again,) = await leases(client)
    assert again["metadata"]["uid"] != lease["metadata"]["uid"]
    assert again["spec"]["holderIdentity"] == lease["spec"]["holderIdentity"]


async def test_who_starts_again_takes_it_over(client: Client, server: ApiServer) -> None:
    (before,) = await leases(client)
    await server.stop()
    await server.start()
    (after,) = await leases(client)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["holderIdentity"] != before["spec"]["holderIdentity"]


async def test_leases_of_servers_that_are_gone_are_deleted(client: Client, virtual_clock: VirtualClock) -> None:
    now = virtual_clock.micro_timestamp()
    label = dict([WHO.split("=")])
    for name, labels, spec in (
        ("expired", label, {"holderIdentity": "a", "leaseDurationSeconds": 10, "renewTime": now}),
        ("no-renew-time", label, {"holderIdentity": "a", "leaseDurationSeconds": 10}),
        ("no-duration", label, {"holderIdentity": "a", "renewTime": now}),
        ("not-expired", label, {"holderIdentity": "a", "leaseDurationSeconds": 7200, "renewTime": now}),
        ("not-a-server", {}, {"holderIdentity": "a", "leaseDurationSeconds": 10, "renewTime": now}),
    ):
        metadata = {"name": name, "labels": labels}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
        await client.create(LEASES, body, namespace="kube-system")
    await virtual_clock.sleep(3601)
    left = {each["metadata"]["name"] for each in (await client.list(LEASES, namespace="kube-system")).items}
    assert left == {apiserver_id("default"), "not-expired", "not-a-server"}
