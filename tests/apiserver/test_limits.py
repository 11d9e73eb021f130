from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, Object
from engine.client import Client
from tests.apiserver.conftest import pod

LIMIT_RANGES = GVR("", "v1", "limitranges")


async def limit(client: Client, **limits: Any) -> None:
    obj = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "limits"},
        "spec": {"limits": [{"type": "Container", **limits}]},
    }
    await client.create(LIMIT_RANGES, obj, namespace="default")


def asking(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> Object:
    resources = {part: value for part, value in (("requests", requests), ("limits", limits)) if value}
    return pod(containers=[{"name": "app", "image": "nginx", "resources": resources}])


async def test_what_a_container_leaves_out_is_filled_in(client: Client, default_account: Object) -> None:
    await limit(client, default={"cpu": "500m"}, defaultRequest={"cpu": "100m"})
    made = await client.create(PODS, pod(), namespace="default")
    assert made["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}}
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu request for container app; cpu limit for container app"
    )


OUTSIDE = {
    "a limit above the maximum": (
        {"max": {"cpu": "1"}},
        asking(limits={"cpu": "2"}),
        "maximum cpu usage per Container is 1, but limit is 2",
    ),
    "a request below the minimum": (
        {"min": {"memory": "64Mi"}},
        asking(requests={"memory": "1Mi"}),
        "minimum memory usage per Container is 64Mi, but request is 1Mi",
    ),
    "no request at all": (
        {"type": "Pod", "min": {"memory": "64Mi"}},
        asking(),
        "minimum memory usage per Pod is 64Mi.  No request is specified",
    ),
    "a limit too far above its request": (
        {"maxLimitRequestRatio": {"cpu": "2"}},
        asking(requests={"cpu": "100m"}, limits={"cpu": "1"}),
        "cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000",
    ),
}


@pytest.mark.parametrize("case", OUTSIDE.values(), ids=OUTSIDE.keys())
async def test_what_is_out_of_bounds_is_refused(
    client: Client, default_account: Object, case: tuple[dict[str, Any], Object, str]
) -> None:
    bounds, sent, why = case
    await limit(client, **bounds)
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, sent, namespace="default")
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    assert why in caught.value.message


async def ranged(client: Client, name: str, *limits: Object) -> None:
    await client.create(LIMIT_RANGES, {"metadata": {"name": name}, "spec": {"limits": [*limits]}}, namespace="default")


async def test_each_range_speaks_for_itself(client: Client, default_account: Object) -> None:
    for name, resource in (("a", "cpu"), ("b", "memory")):
        await ranged(client, name, {"type": "Container", "min": {resource: "1"}, "defaultRequest": {resource: "2"}})
    made = await client.create(PODS, pod(), namespace="default")
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: memory request for container app"
    )
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, asking(requests={"cpu": "0", "memory": "0"}), namespace="default")
    assert caught.value.message == ('pods "web" is forbidden: minimum cpu usage per Container is 1, but request is 0')


def sidecar(cpu: str) -> Object:
    return {"name": "proxy", "image": "a:1", "restartPolicy": "Always", "resources": {"requests": {"cpu": cpu}}}


PEAKS: dict[str, tuple[Object, str]] = {
    "a sidecar runs beside": ({"initContainers": [sidecar("1")]}, "1500m"),
    "an init container runs alone": (
        {"initContainers": [{"name": "init", "image": "a:1", "resources": {"requests": {"cpu": "2"}}}]},
        "2",
    ),
    "a Pod that says it itself": ({"resources": {"requests": {"cpu": "3"}}}, "3"),
}


@pytest.mark.parametrize("case", PEAKS)
async def test_what_a_pod_takes_at_its_peak(client: Client, default_account: Object, case: str) -> None:
    fields, peak = PEAKS[case]
    await ranged(client, "a", {"type": "Pod", "min": {"cpu": "8"}})
    sent = asking(requests={"cpu": "500m"})
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, {**sent, "spec": {**sent["spec"], **fields}}, namespace="default")
    assert caught.value.message == (f'pods "web" is forbidden: minimum cpu usage per Pod is 8, but request is {peak}')


async def test_a_resize_stays_within_the_bounds(client: Client, default_account: Object) -> None:
    await client.create(PODS, asking(requests={"cpu": "1"}, limits={"cpu": "1"}), namespace="default")
    await ranged(client, "a", {"type": "Container", "max": {"cpu": "2"}, "defaultRequest": {"memory": "1Mi"}})
    for cpu, why in (("2", ""), ("3", "maximum cpu usage per Container is 2, but limit is 3")):
        resources = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
        patch = {"spec": {"containers": [{"name": "app", "resources": resources}]}}
        if why:
            with pytest.raises(ApiError, match=why):
                await client.patch(PODS, "web", patch, namespace="default", subresource="resize")
        else:
            made = await client.patch(PODS, "web", patch, namespace="default", subresource="resize")
            assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2", "memory": "1Mi"}
            assert "annotations" not in made["metadata"]


async def test_a_claim_is_bounded_by_what_it_asks_for(client: Client) -> None:
    await ranged(client, "a", {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}})
    claim = {
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}},
    }
    with pytest.raises(ApiError, match="maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"):
        await client.create(GVR("", "v1", "persistentvolumeclaims"), claim, namespace="default")


async def test_a_minimum_is_given_to_those_who_ask_for_nothing(client: Client, default_account: Object) -> None:
    await limit(client, min={"memory": "64Mi"})
    made = await client.create(PODS, pod(), namespace="default")
    assert made["spec"]["containers"][0]["resources"] == {"requests": {"memory": "64Mi"}}


async def test_what_has_no_name_is_filled_in_before_it_is_refused(client: Client, default_account: Object) -> None:
    await limit(client, default={"cpu": "500m"})
    sent = pod(containers=[{"image": "nginx"}], volumes=[{"projected": {}}])
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, sent, namespace="default")
    fields = [cause["field"] for cause in (caught.value.details or {})["causes"]]
    assert (caught.value.code, fields) == (422, ["spec.volumes[0].name", "spec.containers[0].name"])
