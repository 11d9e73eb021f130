"""Pods that are asked for in the same words: what comes of one is known of the next, until something else changes."""

from __future__ import annotations

import copy
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import (
    CLUSTER_ROLE_BINDINGS,
    GVR,
    NAMESPACES,
    PODS,
    SERVICE_ACCOUNTS,
    Object,
)
from engine.api.wire import JSON, MERGE_PATCH, Request, Response
from engine.apiserver.admission.metrics import Unasked
from engine.apiserver.registry.create_alike import AlikeCreater
from engine.apiserver.registry.pod_moulds import Cast
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.trace import Hop, Span
from engine.world import World
from tests.apiserver.conftest import ADMIN, ClientFor, make_namespace, pod
from tests.apiserver.test_policies import policy

LIMIT_RANGES = GVR("", "v1", "limitranges")
QUOTAS = GVR("", "v1", "resourcequotas")
CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")
RUNTIMES = GVR("node.k8s.io", "v1", "runtimeclasses")
HOOKS = GVR("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")
MUTATING_HOOKS = GVR("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations")
ON_PODS = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
ENOUGH = 4  # of the same words: noted, made a mould of, proved, and cast


@pytest.fixture
def cast(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that Pods of moulds were asked for by."""
    names: list[str] = []
    whole = AlikeCreater.create_alike

    async def noted(self: AlikeCreater, *args: Any) -> Object | Cast:
        names.append(args[1].name)
        return await whole(self, *args)

    monkeypatch.setattr(AlikeCreater, "create_alike", noted)
    return names


async def made(client: Client, name: str, namespace: str = "default", **spec: Any) -> Object:
    return await client.create(PODS, pod(name, **spec), namespace=namespace)


def said(answer: Response) -> Object:
    """What an answer says, also where it is as it goes over the wire."""
    found: Object = orjson.loads(answer.body) if isinstance(answer.body, bytes) else answer.body
    return found


def own(obj: Object) -> Object:
    """A Pod without what is its own, in order."""
    text = orjson.dumps(obj).decode()
    metadata = obj["metadata"]
    drawn = [volume["name"] for volume in obj["spec"].get("volumes") or () if "projected" in volume]
    for value in (metadata["name"], metadata["uid"], metadata["resourceVersion"], *drawn):
        text = text.replace(f'"{value}"', '""')
    return {"text": text}


async def test_a_pod_of_a_mould_is_as_any_other(
    client: Client, default_account: Object, world: World, cast: list[str]
) -> None:
    pods = [await made(client, f"web-{number}") for number in range(ENOUGH + 2)]
    assert cast == ["web-3", "web-4", "web-5"]
    first = own(pods[0])
    assert all(own(each) == first for each in pods)
    assert len({each["metadata"]["uid"] for each in pods}) == len(pods)
    assert len({each["spec"]["volumes"][0]["name"] for each in pods}) == len(pods)
    for each in pods:
        assert await client.get(PODS, each["metadata"]["name"], namespace="default") == each
    told = [_told(world, each["metadata"]["name"]) for each in pods]
    assert all(each == told[0] for each in told)


def _told(world: World, name: str) -> list[tuple[Any, ...]]:
    """What the trace has of a Pod, but for what is each Pod's own."""
    [stored] = [span for span in world.tracer.recent if span.object == f"pod/default/{name}" and span.hop is Hop.STORE]
    found: list[Span] = [span for span in world.tracer.recent if span.trace_id == stored.trace_id and span.hop < 8]
    assert sorted(span.hop for span in found) == [*range(1, 8)]
    shown = []
    for span in found:
        detail = {**span.detail, "object": span.object.replace(name, "")}
        for field in ("key", "payload", "path"):
            detail.pop(field, None)
        shown.append((span.hop, span.component, span.verb, span.outcome, orjson.dumps(detail)))
    return shown


async def test_over_the_wire_and_with_names_that_are_drawn(
    server: ApiServer, client: Client, default_account: Object, cast: list[str]
) -> None:
    async def post(body: bytes) -> Object:
        headers = {"content-type": JSON, "user-agent": "kubectl/v1.37.1"}
        request = Request("POST", PODS.path("default"), headers=headers, body=body, certificate=ADMIN)
        answer = await server.handle(request)
        assert answer.status == 201, answer.body
        return said(answer)

    def named(name: str) -> bytes:
        return orjson.dumps(pod(name))

    wired = [await post(named(f"web-{number}")) for number in range(ENOUGH)]
    assert cast == ["web-3"]
    assert own(wired[3]) == own(wired[0])
    # A name that stands elsewhere as well is no Pod's own alone.
    twice = [await post(named("app")), *[await post(named("web-9"))]]
    assert [each["spec"]["containers"][0]["name"] for each in twice] == ["app", "app"]
    assert cast == ["web-3", "web-9"]
    generated = pod("")
    generated["metadata"] = {"generateName": "web-", "labels": {"app": "web"}}
    drawn = [await client.create(PODS, copy.deepcopy(generated), namespace="default") for _ in range(ENOUGH)]
    assert cast == ["web-3", "web-9", ""]
    assert len({each["metadata"]["name"] for each in drawn}) == ENOUGH
    assert all(each["metadata"]["name"].startswith("web-") for each in drawn)
    assert own(drawn[3]) == own(drawn[0])


async def test_only_a_volume_of_the_server_is_named_anew(client: Client, cast: list[str]) -> None:
    await make_namespace(client, "team")
    pull = [{"name": "kube-api-access-abcde"}]
    change = {"automountServiceAccountToken": False, "imagePullSecrets": pull}
    await client.patch(SERVICE_ACCOUNTS, "default", change, namespace="team", content_type=MERGE_PATCH)
    pods = [await made(client, f"web-{number}", "team") for number in range(ENOUGH + 1)]
    assert cast == ["web-3", "web-4"]
    assert [each["spec"]["imagePullSecrets"] for each in pods] == [pull] * len(pods)


async def test_a_name_counts_that_stands_in_the_first_of_two_metadata(server: ApiServer, client: Client) -> None:
    await make_namespace(client, "team")
    text = orjson.dumps(pod("web"))
    twice = text.replace(b'"spec":', b'"metadata":{"labels":{"app":"web"}},"spec":')
    headers = {"content-type": JSON}
    for _ in range(ENOUGH):
        request = Request("POST", PODS.path("team"), {"fieldValidation": ["Ignore"]}, headers, twice, ADMIN)
        answer = await server.handle(request)
        assert (answer.status, said(answer)["metadata"]["name"]) == (201, "web")
        await client.delete(PODS, "web", namespace="team", grace_period_seconds=0)


async def test_each_name_is_looked_at_and_taken_once(client: Client, default_account: Object, cast: list[str]) -> None:
    for number in range(ENOUGH):
        await made(client, f"web-{number}")
    with pytest.raises(ApiError) as taken:
        await made(client, "web-1")
    assert (taken.value.reason, taken.value.message) == ("AlreadyExists", 'pods "web-1" already exists')
    with pytest.raises(ApiError, match=r"metadata\.name: Invalid value"):
        await made(client, "Web_2")
    with pytest.raises(ApiError, match="name or generateName is required"):
        await made(client, "")
    headers = {"content-type": JSON}
    answer = await client.send("POST", PODS.path("default"), body=pod("web.2"), headers=headers)
    assert "this is used in the Pod's hostname" in answer.headers["warning"]
    answer = await client.send(
        "POST", PODS.path("default"), body=pod("dry"), query={"dryRun": ["All"]}, headers=headers
    )
    assert answer.status == 201
    with pytest.raises(ApiError, match="not found"):
        await client.get(PODS, "dry", namespace="default")
    assert cast == ["web-3", "web-1"]


async def test_who_writes_owns_the_fields(client_for: ClientFor, default_account: Object, cast: list[str]) -> None:
    for agent in ("one/1", "other/1"):
        client = client_for("kubernetes-admin", "system:masters", user_agent=agent)
        for number in range(ENOUGH):
            each = await made(client, f"{agent[:3]}-{number}")
            assert [entry["manager"] for entry in each["metadata"]["managedFields"]] == [agent.split("/")[0]]
    assert cast == ["one-3", "oth-3"]


async def _limit(client: Client, namespace: str) -> None:
    limits = [{"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}}]
    obj = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": limits}}
    await client.create(LIMIT_RANGES, obj, namespace=namespace)


async def _bound(client: Client, namespace: str) -> None:
    limits = [{"type": "Pod", "min": {"cpu": "2"}}]
    obj = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": limits}}
    await client.create(LIMIT_RANGES, obj, namespace=namespace)


def _merge(resource: GVR, name: str, change: Object) -> Callable[[Client, str], Awaitable[Any]]:
    async def merge(client: Client, namespace: str) -> None:
        where = "" if resource == NAMESPACES else namespace
        await client.patch(resource, name or namespace, change, namespace=where or None, content_type=MERGE_PATCH)

    return merge


async def _no_account(client: Client, namespace: str) -> None:
    await client.delete(SERVICE_ACCOUNTS, "default", namespace=namespace)


async def _class(client: Client, namespace: str) -> None:
    obj = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": namespace}}
    await client.create(CLASSES, {**obj, "value": 7, "globalDefault": True})


async def _quota(client: Client, namespace: str) -> None:
    obj = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}
    await client.create(QUOTAS, obj, namespace=namespace)
    status = {"status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}}
    await client.patch(QUOTAS, "q", status, namespace=namespace, subresource="status", content_type=MERGE_PATCH)


async def _gone(client: Client, namespace: str) -> None:
    change = {"metadata": {"finalizers": ["example.com/stays"]}}
    await client.patch(NAMESPACES, namespace, change, content_type=MERGE_PATCH)
    await client.delete(NAMESPACES, namespace)


def _hook(resource: GVR, kind: str) -> Callable[[Client, str], Awaitable[Any]]:
    async def register(client: Client, namespace: str) -> None:
        hook = {
            "name": "no.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "rules": ON_PODS,
            "clientConfig": {"service": {"namespace": "default", "name": "nobody"}},
        }
        obj = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "hook"}}
        await client.create(resource, {**obj, "webhooks": [hook]})

    return register


async def _mutating(client: Client, namespace: str) -> None:
    expression = 'Object{metadata: Object.metadata{labels: {"policy": "was-here"}}}'
    mutations = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]
    spec = {
        "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": ON_PODS},
        "mutations": mutations,
    }
    await policy(client, "Mutating", spec)


async def _validating(client: Client, namespace: str) -> None:
    spec = {"matchConstraints": {"resourceRules": ON_PODS}, "validations": [{"expression": "false", "message": "no!"}]}
    await policy(client, "Validating", spec, {"validationActions": ["Deny"]})


def _at(obj: Object, path: str) -> Any:
    found: Any = obj
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else found[int(step)]
    return found


# What changes, and what the very next Pod of the same words is like: a path in it, or what it is refused with.
Change = Callable[[Client, str], Awaitable[Any]]
CHANGES: dict[str, tuple[Change, str, Any]] = {
    "limits are set": (_limit, "spec.containers.0.resources", {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}}),
    "bounds are set": (_bound, "", "minimum cpu usage per Pod is 2"),
    "the account pulls images": (
        _merge(SERVICE_ACCOUNTS, "default", {"imagePullSecrets": [{"name": "pull"}]}),
        "spec.imagePullSecrets",
        [{"name": "pull"}],
    ),
    "the account mounts no token": (
        _merge(SERVICE_ACCOUNTS, "default", {"automountServiceAccountToken": False}),
        "spec.volumes",
        None,
    ),
    "the account is gone": (_no_account, "", 'serviceaccount "default" not found'),
    "a class is the default": (_class, "spec.priority", 7),
    "a quota is full": (_quota, "", "exceeded quota: q"),
    "the namespace is restricted": (
        _merge(NAMESPACES, "", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}),
        "",
        'violates PodSecurity "restricted:latest"',
    ),
    "the namespace ends": (_gone, "", "because it is being terminated"),
    "a webhook refuses": (_hook(HOOKS, "ValidatingWebhookConfiguration"), "", "failed calling webhook"),
    "a webhook changes": (_hook(MUTATING_HOOKS, "MutatingWebhookConfiguration"), "", "failed calling webhook"),
    "a policy changes": (_mutating, "metadata.labels", {"policy": "was-here"}),
    "a policy refuses": (_validating, "", "no!"),
}


@pytest.mark.parametrize("case", CHANGES)
async def test_what_changed_counts_at_once(client: Client, case: str, cast: list[str]) -> None:
    change, path, expected = CHANGES[case]
    await make_namespace(client, "team")
    before = [await made(client, f"web-{number}", "team") for number in range(ENOUGH + 1)][-1]
    assert cast == ["web-3", "web-4"]
    await change(client, "team")
    if not path:
        with pytest.raises(ApiError) as refused:
            await made(client, "next", "team")
        assert expected in refused.value.message
        return
    assert _at(before, path) != expected
    assert _at(await made(client, "next", "team"), path) == expected
    after = [await made(client, f"later-{number}", "team") for number in range(ENOUGH)]
    assert [_at(each, path) for each in after] == [expected] * ENOUGH


async def test_a_class_counts_as_it_is_now(client: Client, default_account: Object, cast: list[str]) -> None:
    async def priority(value: int) -> None:
        obj = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
        await client.create(CLASSES, {**obj, "value": value})

    async def runtime(cpu: str) -> None:
        metadata = {"name": "box"}
        obj = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": metadata, "handler": "box"}
        await client.create(RUNTIMES, {**obj, "overhead": {"podFixed": {"cpu": cpu}}})

    wanted = {"priorityClassName": "high", "runtimeClassName": "box"}
    for turn, (value, cpu) in enumerate(((5, "1"), (6, "2"))):
        await priority(value)
        await runtime(cpu)
        for number in range(ENOUGH):
            spec = (await made(client, f"web-{turn}-{number}", **wanted))["spec"]
            assert (spec["priority"], spec["overhead"]) == (value, {"cpu": cpu})
        await client.delete(CLASSES, "high")
        with pytest.raises(ApiError, match="no PriorityClass with name high was found"):
            await made(client, "none", **wanted)
        await priority(value)
        await client.delete(RUNTIMES, "box")
        with pytest.raises(ApiError, match='RuntimeClass "box" not found'):
            await made(client, "none", **wanted)
        await client.delete(CLASSES, "high")
    assert len(cast) > 2


async def test_who_may_no_longer_is_refused(
    client: Client, client_for: ClientFor, default_account: Object, cast: list[str]
) -> None:
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "jane"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
    }
    await client.create(CLUSTER_ROLE_BINDINGS, binding)
    jane = client_for("jane")
    for number in range(ENOUGH):
        await made(jane, f"web-{number}")
    assert cast == ["web-3"]
    await client.delete(CLUSTER_ROLE_BINDINGS, "jane")
    with pytest.raises(ApiError, match='User "jane" cannot create resource "pods"'):
        await made(jane, "next")


async def test_figures_count_each(client: Client, default_account: Object, cast: list[str]) -> None:
    counts: list[dict[str, float]] = []
    for number in range(ENOUGH + 1):
        before = await _figures(client)
        await made(client, f"web-{number}")
        after = await _figures(client)
        counts.append({name: after[name] - before.get(name, 0) for name in after})
    assert len(cast) == 2
    assert counts[-1] == counts[-2] == counts[0]


async def test_figures_count_each_that_is_refused(client: Client, cast: list[str]) -> None:
    await make_namespace(client, "team")
    hard = {"pods": str(ENOUGH + 1)}
    obj = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
    await client.create(QUOTAS, obj, namespace="team")
    status = {"status": {"hard": hard, "used": {"pods": "0"}}}
    await client.patch(QUOTAS, "q", status, namespace="team", subresource="status", content_type=MERGE_PATCH)
    for number in range(ENOUGH + 1):
        await made(client, f"web-{number}", "team")
    counts: list[dict[str, float]] = []
    for labels in ({}, {"of": "others"}):  # in the same words, and in others
        before = await _figures(client)
        refused = pod("next")
        refused["metadata"]["labels"] = labels
        if not labels:
            del refused["metadata"]["labels"]
        with pytest.raises(ApiError, match="exceeded quota: q"):
            await client.create(PODS, refused, namespace="team")
        after = await _figures(client)
        counts.append({name: after[name] - before.get(name, 0) for name in after})
    assert cast == ["web-3", "web-4", "next"]
    assert counts[0] == counts[1]


async def test_what_counts_of_admission_is_one_for_all_resources_that_no_plugin_names(client: Client) -> None:
    await make_namespace(client, "team")
    counts = []
    for resource, kind in (("secrets", "Secret"), ("configmaps", "ConfigMap"), ("endpoints", "Endpoints")):
        obj = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "each"}}
        await client.create(GVR("", "v1", resource), obj, namespace="team")
        counts.append(sum(type(each) is Unasked for each in gc.get_objects()))
    assert counts[0] == counts[1] == counts[2]


async def _figures(client: Client) -> dict[str, float]:
    """What is counted of admission, the store and requests to make Pods."""
    answer = await client.send("GET", "/metrics", headers={"accept": "text/plain"})
    lines = (answer.body if isinstance(answer.body, bytes) else b"").decode().splitlines()
    found = {}
    for line in lines:
        name, _, value = line.rpartition(" ")
        kept = ("apiserver_admission_", "etcd_requests_total", "pod_security_", "apiserver_request_total")
        if name.startswith(kept) and "_bucket" not in name and "_sum" not in name:
            found[name] = float(value)
    return found


async def test_what_happens_to_one_pod_of_a_mould_happens_to_no_other(
    client: Client, default_account: Object, cast: list[str]
) -> None:
    pods = [await made(client, f"web-{number}") for number in range(ENOUGH + 1)]
    others = copy.deepcopy(pods)
    change = {"metadata": {"labels": {"app": None, "tier": "front"}}, "spec": {"activeDeadlineSeconds": 5}}
    for name in ("web-3", "web-4"):
        changed = await client.patch(PODS, name, change, namespace="default", content_type=MERGE_PATCH)
        assert (changed["metadata"]["labels"], changed["spec"]["activeDeadlineSeconds"]) == ({"tier": "front"}, 5)
    await client.delete(PODS, "web-4", namespace="default")
    assert pods == others
    assert own(await made(client, "web-5")) == own(others[0])
    assert await client.get(PODS, "web-2", namespace="default") == others[2]


async def test_who_changes_an_answer_changes_nothing_that_is_kept(
    client: Client, default_account: Object, cast: list[str]
) -> None:
    for number in range(ENOUGH):
        answer = await made(client, f"web-{number}")
    before = copy.deepcopy(answer)
    answer["spec"]["tolerations"].clear()
    answer["spec"]["containers"][0]["image"] = "other"
    assert await client.get(PODS, before["metadata"]["name"], namespace="default") == before
    later = await made(client, "web-later")
    assert cast[-1] == "web-later"
    assert own(await client.get(PODS, later["metadata"]["name"], namespace="default")) == own(before)
