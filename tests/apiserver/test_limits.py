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


async def test_a_minimum_is_given_to_those_who_ask_for_nothing(client: Client, default_account: Object) -> None:
    await limit(client, min={"memory": "64Mi"})
    made = await client.create(PODS, pod(), namespace="default")
    assert made["spec"]["containers"][0]["resources"] == {"requests": {"memory": "64Mi"}}
