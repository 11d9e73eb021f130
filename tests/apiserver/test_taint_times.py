"""When devices were tainted, as the server says it where nobody else does."""

from __future__ import annotations

from engine.api.types import GVR, Object
from engine.api.wire import MERGE_PATCH
from engine.client import Client
from engine.world import World

RULES = GVR("resource.k8s.io", "v1", "devicetaintrules")
SLICES = GVR("resource.k8s.io", "v1", "resourceslices")
THEN = "2020-01-01T00:00:00Z"


async def test_a_rule_taints_from_when_its_effect_changes(client: Client, world: World) -> None:
    made: Object = {"apiVersion": RULES.api_version, "kind": "DeviceTaintRule", "metadata": {"name": "a"}}
    made = await client.create(RULES, {**made, "spec": {"taint": {"key": "a", "effect": "NoSchedule"}}})
    first = made["spec"]["taint"]["timeAdded"]
    assert first
    (owned,) = made["metadata"]["managedFields"]
    assert "f:timeAdded" in owned["fieldsV1"]["f:spec"]["f:taint"]
    await world.clock.sleep(60)

    async def changed(**taint: str) -> str:
        after = await client.patch(RULES, "a", {"spec": {"taint": taint}}, content_type=MERGE_PATCH)
        return str(after["spec"]["taint"]["timeAdded"])

    assert await changed(value="x") == first
    assert await changed(effect="NoExecute") == world.clock.timestamp() != first
    assert await changed(effect="NoSchedule", timeAdded=THEN) == THEN


async def test_so_do_drivers(client: Client, world: World) -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    devices = [{"name": "x", "taints": [taint, {**taint, "timeAdded": THEN}]}, {"name": "y"}]
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": devices}
    made = await client.create(
        SLICES, {"apiVersion": SLICES.api_version, "kind": "ResourceSlice", "metadata": {"name": "a"}, "spec": spec}
    )
    times = [taint["timeAdded"] for taint in made["spec"]["devices"][0]["taints"]]
    assert times == [world.clock.timestamp(), THEN]
