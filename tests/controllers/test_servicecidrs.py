"""The ServiceCIDRs controller: ready, protected, and kept as long as an address needs it
(after pkg/controller/servicecidrs/servicecidrs_controller_test.go, test/integration/servicecidr)."""

from __future__ import annotations

from typing import Any

from engine.api.types import SERVICES, Object
from engine.controllers.servicecidrs import FINALIZER, IP_ADDRESSES, SERVICE_CIDRS, ServiceCidrsController
from engine.world import World
from tests.controllers.cluster import TestCluster, running

_REFERENCED = "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"


async def add(control: TestCluster, name: str, *cidrs: str) -> None:
    await control.admin.create(SERVICE_CIDRS, {"metadata": {"name": name}, "spec": {"cidrs": list(cidrs)}})


async def condition(control: TestCluster, name: str, **wanted: str) -> Object:
    """The object once its condition says so."""

    async def said() -> Object | None:
        found = await control.find(SERVICE_CIDRS, name, None)
        conditions: list[dict[str, Any]] = ((found or {}).get("status") or {}).get("conditions") or []
        return found if any(wanted.items() <= each.items() for each in conditions) else None

    found: Object = await control.eventually(f"{name} is {wanted}", said)
    return found


async def test_ranges_are_ready_and_go_when_no_address_needs_them(world: World) -> None:
    ready = {"status": "True", "reason": "", "message": "Kubernetes Service CIDR is ready"}
    blocked = {"status": "False", "reason": "Terminating", "message": _REFERENCED}
    async with running(world, controllers=(ServiceCidrsController,)) as control:
        admin = control.admin
        first = await condition(control, "kubernetes", **ready)
        assert first["metadata"]["finalizers"] == [FINALIZER]
        assert "service-cidr-controller" in {each["manager"] for each in first["metadata"]["managedFields"]}
        await add(control, "second", "192.168.0.0/24")
        await condition(control, "second", **ready)
        web = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], "clusterIP": "192.168.0.9"}}
        await admin.create(SERVICES, web, namespace="default")

        await admin.delete(SERVICE_CIDRS, "second")
        await condition(control, "second", **blocked)
        await add(control, "around", "192.168.0.0/16")  # holds the address from now on
        await control.gone(SERVICE_CIDRS, "second", None)

        await admin.delete(SERVICE_CIDRS, "around")
        await condition(control, "around", **blocked)
        began = control.now
        await admin.delete(SERVICES, "web", namespace="default")
        await control.gone(SERVICE_CIDRS, "around", None)
        assert control.now - began < 11, "no longer than the API servers need to know"

        await admin.delete(SERVICE_CIDRS, "kubernetes")
        await condition(control, "kubernetes", **blocked)


async def test_an_unused_range_goes_after_ten_seconds(world: World) -> None:
    async with running(world, controllers=(ServiceCidrsController,)) as control:
        await add(control, "spare", "192.168.0.0/24", "2001:db8::/112")
        await condition(control, "spare", status="True")
        foreign = {"resource": "gateways", "group": "gateway.example", "name": "edge"}
        await control.admin.create(
            IP_ADDRESSES, {"metadata": {"name": "192.168.0.4"}, "spec": {"parentRef": foreign}}
        )  # is no Service's
        began = control.now
        await control.admin.delete(SERVICE_CIDRS, "spare")
        await control.gone(SERVICE_CIDRS, "spare", None)
        assert 9 <= control.now - began <= 11
