"""Priority, ServiceAccount, LimitRanger, DefaultIngressClass and ResourceQuota, row by row as upstream's tests."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.pod_security import LevelVersion, evaluate
from engine.api.quota import concerns, usage
from engine.api.types import GVR, PODS, SECRETS, SERVICE_ACCOUNTS, Object, copy_object
from engine.client import Client
from engine.clock import VirtualClock
from tests.apiserver.conftest import account, pod

PRIORITY_CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")
INGRESSES = GVR("networking.k8s.io", "v1", "ingresses")
INGRESS_CLASSES = GVR("networking.k8s.io", "v1", "ingressclasses")
LIMIT_RANGES = GVR("", "v1", "limitranges")
QUOTAS = GVR("", "v1", "resourcequotas")
CLAIMS = "resourceclaims.resource.k8s.io"


async def test_there_is_one_default_priority_class(client: Client) -> None:
    first = await client.create(PRIORITY_CLASSES, {"metadata": {"name": "first"}, "value": 5, "globalDefault": True})
    other = await client.create(PRIORITY_CLASSES, {"metadata": {"name": "other"}, "value": 5})
    text = "PriorityClass first is already marked as default. Only one default can exist"
    with pytest.raises(ApiError) as caught:
        await client.create(PRIORITY_CLASSES, {"metadata": {"name": "third"}, "value": 5, "globalDefault": True})
    assert (caught.value.code, caught.value.message) == (
        403, f'priorityclasses.scheduling.k8s.io "third" is forbidden: {text}',
    )  # fmt: skip
    with pytest.raises(ApiError, match=text):
        await client.update(PRIORITY_CLASSES, {**other, "globalDefault": True})
    await client.update(PRIORITY_CLASSES, {**first, "description": "for all"})


async def test_an_update_may_leave_out_the_priority(client: Client, default_account: Object) -> None:
    made = await client.create(PODS, pod(priorityClassName="system-node-critical"), namespace="default")
    sent = copy_object(made)
    del sent["spec"]["priority"], sent["spec"]["preemptionPolicy"]
    sent["spec"]["containers"][0]["image"] = "nginx:2"
    changed = (await client.update(PODS, sent))["spec"]
    assert (changed["priority"], changed["preemptionPolicy"]) == (2000001000, "PreemptLowerPriority")


async def test_of_several_default_ingress_classes_the_newest(client: Client, virtual_clock: VirtualClock) -> None:
    marked = {"ingressclass.kubernetes.io/is-default-class": "true"}
    for name in ("a", "z", "y"):
        if name == "z":
            await virtual_clock.sleep(5)
        obj = {"metadata": {"name": name, "annotations": marked}, "spec": {"controller": "example.com/c"}}
        await client.create(INGRESS_CLASSES, obj)
    backend = {"service": {"name": "a", "port": {"number": 80}}}
    made = await client.create(
        INGRESSES, {"metadata": {"name": "a"}, "spec": {"defaultBackend": backend}}, namespace="default"
    )
    assert made["spec"]["ingressClassName"] == "y"


_REFUSED = " is not allowed because service account strict does not reference that"
_FROM_SECRET = [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "open", "key": "k"}}}]
# What a Pod of an account that wants its secrets listed names -> why it is refused.
MOUNTABLE: dict[str, tuple[Object, str]] = {
    "a listed secret": ({"volumes": [{"name": "v", "secret": {"secretName": "listed"}}]}, ""),
    "a secret that is not listed": (
        {"volumes": [{"name": "v", "secret": {"secretName": "open"}}]},
        f'volume with secret.secretName="open"{_REFUSED} secret',
    ),
    "a variable": (
        {"containers": [{"name": "app", "image": "a:1", "env": _FROM_SECRET}]},
        f'container app with envVar KEY referencing secret.secretName="open"{_REFUSED} secret',
    ),
    "a variable of an init container": (
        {"initContainers": [{"name": "init", "image": "a:1", "env": _FROM_SECRET}]},
        f'init container init with envVar KEY referencing secret.secretName="open"{_REFUSED} secret',
    ),
    "an environment": (
        {"containers": [{"name": "app", "image": "a:1", "envFrom": [{"secretRef": {"name": "open"}}]}]},
        f'container app with envFrom referencing secret.secretName="open"{_REFUSED} secret',
    ),
    "a secret to pull with": (
        {"imagePullSecrets": [{"name": "listed"}, {"name": "open"}]},
        f'imagePullSecrets[1].name="open"{_REFUSED} imagePullSecret',
    ),
}  # fmt: skip


async def test_ephemeral_containers_read_no_secret_that_is_not_listed(client: Client) -> None:
    strict = account("strict")
    strict["metadata"]["annotations"] = {"kubernetes.io/enforce-mountable-secrets": "T"}
    await client.create(SERVICE_ACCOUNTS, strict, namespace="default")
    await client.create(PODS, pod(serviceAccountName="strict"), namespace="default")
    for source, where in (
        ({"envFrom": [{"secretRef": {"name": "open"}}]}, "envFrom"),
        ({"env": _FROM_SECRET}, "envVar KEY"),
    ):
        debugger = {"name": "shell", "image": "a:1", **source}
        patch = {"spec": {"ephemeralContainers": [debugger]}}
        with pytest.raises(ApiError) as caught:
            await client.patch(PODS, "web", patch, namespace="default", subresource="ephemeralcontainers")
        assert caught.value.message == (
            f'pods "web" is forbidden: ephemeral container shell with {where} referencing secret.secretName="open"'
            f"{_REFUSED} secret"
        )


@pytest.mark.parametrize("name", MOUNTABLE)
async def test_an_account_may_want_its_secrets_listed(name: str, client: Client) -> None:
    spec, why = MOUNTABLE[name]
    strict = account("strict")
    strict["metadata"]["annotations"] = {"kubernetes.io/enforce-mountable-secrets": "true"}
    strict |= {"secrets": [{"name": "listed"}], "imagePullSecrets": [{"name": "listed"}]}
    await client.create(SERVICE_ACCOUNTS, strict, namespace="default")
    await client.create(SECRETS, {"metadata": {"name": "open"}}, namespace="default")
    sent = pod(serviceAccountName="strict", **spec)
    if not why:
        await client.create(PODS, sent, namespace="default")
        return
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, sent, namespace="default")
    assert caught.value.message == f'pods "web" is forbidden: {why}'


async def test_secrets_are_looked_at_before_other_plugins_are_asked(client: Client) -> None:
    """Admit of upstream's plugin ends with its Validate; what has no name yet is told without one."""
    strict = account("strict")
    strict["metadata"]["annotations"] = {"kubernetes.io/enforce-mountable-secrets": "true"}
    await client.create(SERVICE_ACCOUNTS, strict, namespace="default")
    nameless = [{"image": "a:1", "env": [{"valueFrom": {"secretKeyRef": {"name": "open", "key": "k"}}}]}]
    sent = pod(serviceAccountName="strict", priorityClassName="gone", containers=nameless)
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, sent, namespace="default")
    assert caught.value.message == (
        f'pods "web" is forbidden: container  with envVar  referencing secret.secretName="open"{_REFUSED} secret'
    )


async def limited(client: Client, name: str, **limits: Any) -> None:
    obj = {"metadata": {"name": name}, "spec": {"limits": [limits]}}
    await client.create(LIMIT_RANGES, obj, namespace="default")


async def test_a_request_below_the_minimum_is_told_before_the_limit(client: Client, default_account: Object) -> None:
    await limited(client, "a", type="Container", min={"memory": "64Mi"})
    resources = {"requests": {"memory": "1Mi"}, "limits": {"memory": "2Mi"}}
    sent = pod(containers=[{"name": name, "image": "a:1", "resources": resources} for name in ("a", "b")])
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, sent, namespace="default")
    assert caught.value.message == (  # once, though both are at fault
        'pods "web" is forbidden: minimum memory usage per Container is 64Mi, but request is 1Mi'
    )


async def test_what_one_quota_refuses_is_booked_on_none(client: Client, default_account: Object) -> None:
    for name, hard in (("a", "5"), ("b", "0")):
        await client.create(QUOTAS, {"metadata": {"name": name}, "spec": {"hard": {"pods": hard}}}, namespace="default")
        status = {"status": {"hard": {"pods": hard}, "used": {"pods": "0"}}}
        await client.patch(QUOTAS, name, status, namespace="default", subresource="status")
    with pytest.raises(ApiError, match="exceeded quota: b, requested: pods=1, used: pods=0, limited: pods=0"):
        await client.create(PODS, pod(), namespace="default")
    assert (await client.get(QUOTAS, "a", namespace="default"))["status"]["used"] == {"pods": "0"}


def test_devices_are_charged_by_their_class() -> None:
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}},
        {"name": "b", "exactly": {"deviceClassName": "nic", "allocationMode": "All"}},
        {"name": "c", "firstAvailable": [
            {"name": "x", "deviceClassName": "gpu", "count": 1},
            {"name": "y", "deviceClassName": "gpu", "count": 3},
        ]},
    ]  # fmt: skip
    taken = usage(CLAIMS, {"metadata": {"name": "a"}, "spec": {"devices": {"requests": requests}}})
    assert {name: str(amount) for name, amount in taken.items()} == {
        "count/resourceclaims.resource.k8s.io": "1",
        "gpu.deviceclass.resource.k8s.io/devices": "5",
        "nic.deviceclass.resource.k8s.io/devices": "32",
    }
    assert concerns(CLAIMS, "gpu.deviceclass.resource.k8s.io/devices")
    assert not concerns("pods", "gpu.deviceclass.resource.k8s.io/devices")


# -- Pod Security: AppArmor, and Pods with users of their own

_PREFIX = "container.apparmor.security.beta.kubernetes.io/"


def profile(kind: str) -> Object:
    return {"securityContext": {"appArmorProfile": {"type": kind}}}


APP_ARMOR: dict[str, tuple[Object, Object, str]] = {
    "good profiles": ({f"{_PREFIX}a": "localhost/x", f"{_PREFIX}b": "runtime/default"}, profile("RuntimeDefault"), ""),
    "the Pod": (
        {}, profile("Unconfined"),
        'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
    ),
    "a container": (
        {}, {"containers": [{"name": "a", **profile("Unconfined")}]},
        'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")',
    ),
    "an annotation": (
        {f"{_PREFIX}a": "unconfined"}, {},
        f'forbidden AppArmor profile (annotation must not set AppArmor profile type to "{_PREFIX}a="unconfined"")',
    ),
    "all of them": (
        {f"{_PREFIX}a": "unconfined", f"{_PREFIX}b": "unknown"},
        {"containers": [{"name": "a", **profile("Unconfined")}, {"name": "b", **profile("Unconfined")}],
         **profile("Unconfined")},
        'forbidden AppArmor profiles (pod and containers "a", "b" and annotations must not set AppArmor profile type '
        f'to "Unconfined", "{_PREFIX}a="unconfined"", "{_PREFIX}b="unknown"")',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", APP_ARMOR)
def test_app_armor_is_not_switched_off(name: str) -> None:
    annotations, spec, said = APP_ARMOR[name]
    assert evaluate(LevelVersion("baseline"), {"annotations": annotations}, spec).detail == said


def test_a_pod_with_users_of_its_own_may_do_more() -> None:
    masked = {"hostUsers": False, "containers": [{"name": "a", "securityContext": {"procMount": "Unmasked"}}]}
    assert evaluate(LevelVersion("baseline", "v1.35"), {}, masked).allowed
    assert evaluate(LevelVersion("baseline", "v1.34"), {}, masked).reason == "procMount"
    assert "procMount" in evaluate(LevelVersion("restricted", "v1.35"), {}, masked).reason
    root = {"hostUsers": False, "containers": [{"name": "a", "securityContext": {"runAsUser": 0}}]}
    new, old = [evaluate(LevelVersion("restricted", version), {}, root).reason for version in ("v1.35", "v1.34")]
    assert "runAsUser=0" in old
    assert "runAsNonRoot != true" in old
    assert "runAs" not in new
