"""What holds for each of many Pods that say the same, though it is worked out for the first alone."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.alike_pods import AlikePods, likeness
from engine.api.errors import ApiError
from engine.api.remembered import LONGEST, REMEMBERED
from engine.api.resources import ResourceRegistry
from engine.api.types import PODS, Object
from engine.api.wire import JSON
from engine.client import Client
from engine.clock import VirtualClock
from tests.apiserver.conftest import config_map, pod

INFO = ResourceRegistry.for_version("").get(*PODS)
assert INFO is not None
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
PROFILE = "container.apparmor.security.beta.kubernetes.io/app"


async def made(client: Client, name: str, *, metadata: Object | None = None, **spec: Any) -> Object:
    sent = pod(name, **spec)
    sent["metadata"] |= metadata or {}
    return await client.create(PODS, sent, namespace="default")


async def warned(client: Client, sent: Object) -> str:
    headers = {"content-type": JSON}
    answer = await client.send("POST", PODS.path("default"), body=sent, headers=headers)
    assert answer.status == 201
    return answer.headers.get("warning", "")


async def test_alike_pods_differ_in_what_is_their_own_alone(client: Client, default_account: Object) -> None:
    made_ = [await made(client, f"web-{number}") for number in range(3)]
    drawn = [each["spec"]["volumes"][0]["name"] for each in made_]
    assert len({*drawn}) == 3
    for each, name in zip(made_, drawn, strict=True):
        spec, first = each["spec"], made_[0]["spec"]
        assert spec["containers"][0]["volumeMounts"][0]["name"] == name
        assert {**spec, "containers": [], "volumes": []} == {**first, "containers": [], "volumes": []}
        assert [*spec] == [*first]
        assert each["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
        assert each["metadata"]["generation"] == 1
    assert len({each["metadata"]["uid"] for each in made_}) == 3


async def test_alike_pods_are_looked_at_by_their_names_and_labels(client: Client, default_account: Object) -> None:
    await made(client, "web")
    assert "this is used in the Pod's hostname" in await warned(client, pod("web.2"))
    assert not await warned(client, pod("web-3"))
    with pytest.raises(ApiError, match=r"metadata\.name: Invalid value"):
        await made(client, "Web_2")
    with pytest.raises(ApiError, match=r"metadata\.labels: Invalid value"):
        await made(client, "other", metadata={"labels": {"app": "no label!"}})


async def test_what_is_wrong_or_warned_of_is_told_of_each(client: Client, default_account: Object) -> None:
    for number in range(2):
        with pytest.raises(ApiError, match=r"spec\.activeDeadlineSeconds: Invalid value: -1"):
            await made(client, f"web-{number}", activeDeadlineSeconds=-1)
        twice = pod(f"twice-{number}", imagePullSecrets=[{"name": ""}])
        assert "imagePullSecrets[0].name" in await warned(client, twice)
        annotated = pod(f"annotated-{number}")
        annotated["metadata"]["annotations"] = {PROFILE: "unconfined"}
        assert "deprecated since v1.30" in await warned(client, annotated)
        container = (await client.get(PODS, f"annotated-{number}", namespace="default"))["spec"]["containers"][0]
        assert container["securityContext"]["appArmorProfile"] == {"type": "Unconfined"}


async def test_what_comes_of_labels_time_and_name_is_each_pods_own(
    client: Client, default_account: Object, virtual_clock: VirtualClock
) -> None:
    selector = {"matchLabels": {"app": "web"}}
    spread = {
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector,
        "matchLabelKeys": ["hash"],
    }  # fmt: skip
    for value in ("a", "b"):
        each = await made(
            client, f"s-{value}", metadata={"labels": {"hash": value}}, topologySpreadConstraints=[spread]
        )
        merged = each["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchExpressions"]
        assert merged == [{"key": "hash", "operator": "In", "values": [value]}]
    for number in range(2):
        each = await made(client, f"gated-{number}", schedulingGates=[{"name": "later"}])
        condition = each["status"]["conditions"][0]
        assert condition["lastTransitionTime"] == each["metadata"]["creationTimestamp"]
        await virtual_clock.sleep(5)
    volume = {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}
    await made(client, "short", volumes=[volume])
    with pytest.raises(ApiError, match=r"spec.volumes\[0\].name: Invalid value"):
        await made(client, "l" * 250, volumes=[volume])


def test_a_drawn_name_is_like_any_other_and_nothing_else_is() -> None:
    assert INFO is not None

    def key(drawn: str, *, mounted: str = "", image: str = "nginx", **more: Any) -> bytes:
        container = {"name": "app", "image": image, "volumeMounts": [{"name": mounted or drawn, "mountPath": "/x"}]}
        return likeness(INFO, pod(containers=[container], volumes=[{"name": drawn}], **more))

    first = key("kube-api-access-abcde")
    assert first == key("kube-api-access-x2k9p")
    others = [
        key("kube-api-access-abcde", mounted="kube-api-access-x2k9p"),
        key("kube-api-access-abcde", image="kube-api-access-abcde"),
        key("kube-api-access-abcde", image="nginx:2"),
        key("kube-api-access-ABCDE"),
        key("kube-api-access-abcdef"),
        key("mine"),
        key("kube-api-access-abcde", hostNetwork=True),
        key("kube-api-access-abcde", hostNetwork=1),
    ]
    assert len({first, *others}) == len(others) + 1


def test_what_cannot_be_compared_is_like_nothing() -> None:
    assert INFO is not None
    assert likeness(INFO, pod(activeDeadlineSeconds=1 << 70)) == b""
    assert likeness(INFO, pod(nodeName="\ud800")) == b""
    maps = ResourceRegistry.for_version("").get("", "v1", "configmaps")
    assert maps is not None
    assert likeness(maps, config_map("web")) == b""


def test_the_newest_are_remembered_and_none_that_was_changed() -> None:
    assert INFO is not None
    alike, status = AlikePods(), {"phase": "Pending"}
    pods = [{**pod(nodeName=f"n{number}"), "status": status} for number in range(REMEMBERED + 1)]
    keys = [likeness(INFO, each) for each in pods]
    for key, each in zip(keys, pods, strict=True):
        alike.remember(key, INFO, each)
    assert alike.status(keys[0]) is None
    assert alike.status(keys[1]) == alike.status(keys[-1]) == status
    assert alike.status(keys[1]) is not alike.status(keys[1])
    alike.remember(keys[0], INFO, pods[1])
    assert alike.status(keys[0]) is None
    long = {**pod(nodeName="x" * LONGEST), "status": status}
    alike.remember(likeness(INFO, long), INFO, long)
    assert alike.status(likeness(INFO, long)) is None
