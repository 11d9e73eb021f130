"""The Pod Security Standards: the words of each check, and what namespaces' labels make of them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.pod_security import LevelVersion, evaluate, policy_of
from engine.api.types import GVR, NAMESPACES, PODS, Object
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client
from tests.apiserver.conftest import ADMIN, make_namespace, pod

LABEL = "pod-security.kubernetes.io/"


def spec(container: Object | None = None, **fields: Any) -> Object:
    return {"containers": [{"name": "a", **(container or {})}], **fields}


def secured(**context: Any) -> Object:
    return {"securityContext": context}


BASELINE: dict[str, tuple[Object, str]] = {
    "nothing": (spec(), ""),
    "host namespaces": (spec(hostNetwork=True, hostPID=True), "host namespaces (hostNetwork=true, hostPID=true)"),
    "privileged": (
        spec(secured(privileged=True)),
        'privileged (container "a" must not set securityContext.privileged=true)',
    ),
    "capabilities": (
        spec(secured(capabilities={"add": ["SYS_ADMIN", "CHOWN", "NET_RAW"]})),
        'non-default capabilities (container "a" must not include "NET_RAW", "SYS_ADMIN" in '
        "securityContext.capabilities.add)",
    ),
    "host path": (spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}]), 'hostPath volumes (volume "v")'),
    "host ports": (
        spec({"ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 81}]}),
        'hostPort (container "a" uses hostPorts 80, 81)',
    ),
    "sysctls": (
        spec(securityContext={"sysctls": [{"name": "kernel.msgmax"}, {"name": "net.ipv4.tcp_rmem"}]}),
        "forbidden sysctl (kernel.msgmax)",
    ),
    "seccomp": (
        spec(securityContext={"seccompProfile": {"type": "Unconfined"}}),
        'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ),
    "selinux": (
        spec(secured(seLinuxOptions={"type": "spc_t", "user": "root"})),
        'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be '
        "set)",
    ),
    "proc mount": (
        spec(secured(procMount="Unmasked")),
        'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ),
    "proc mount of own users": (spec(secured(procMount="Unmasked"), hostUsers=False), ""),
    "hosts of the node itself": (
        spec(
            {
                "livenessProbe": {"httpGet": {"host": "127.0.0.1"}},
                "readinessProbe": {"tcpSocket": {"host": "::1"}},
                "startupProbe": {"httpGet": {"host": "localhost"}},
            }
        ),
        'probe or lifecycle host (container "a" uses probe or lifecycle hosts "127.0.0.1", "::1", "localhost")',
    ),
    "hosts of several": (
        {
            "initContainers": [{"name": "z", "lifecycle": {"preStop": {"tcpSocket": {"host": "b.example"}}}}],
            "containers": [{"name": "a", "lifecycle": {"postStart": {"httpGet": {"host": "b.example"}}}}],
        },
        'probe or lifecycle host (containers "a", "z" use probe or lifecycle host "b.example")',
    ),
}


@pytest.mark.parametrize("case", BASELINE)
def test_baseline(case: str) -> None:
    given, said = BASELINE[case]
    assert evaluate(LevelVersion("baseline"), {}, given).detail == said


GOOD = secured(
    allowPrivilegeEscalation=False,
    capabilities={"drop": ["ALL"]},
    runAsNonRoot=True,
    seccompProfile={"type": "RuntimeDefault"},
)
RESTRICTED: dict[str, tuple[Object, str]] = {
    "all good": (spec(GOOD), ""),
    "root by number": (
        spec({"securityContext": {**GOOD["securityContext"], "runAsUser": 0}}),
        'runAsUser=0 (container "a" must not set runAsUser=0)',
    ),
    "root by word": (
        spec({"securityContext": {**GOOD["securityContext"], "runAsNonRoot": False}}),
        'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
    ),
    "a volume": (
        spec(GOOD, volumes=[{"name": "v", "hostPath": {"path": "/"}}, {"name": "w", "nfs": {}}]),
        'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")',
    ),
    "baseline first": (
        spec(GOOD, hostIPC=True, volumes=[{"name": "v", "hostPath": {"path": "/"}}]),
        'host namespaces (hostIPC=true), restricted volume types (volume "v" uses restricted volume type "hostPath")',
    ),
    "proc mount": (
        spec({"securityContext": {**GOOD["securityContext"], "procMount": "Unmasked"}}),
        ", ".join(['procMount (container "a" must not set securityContext.procMount to "Unmasked")'] * 2),
    ),
    "proc mount of own users": (
        spec({"securityContext": {**GOOD["securityContext"], "procMount": "Unmasked"}}, hostUsers=False),
        'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ),
    "windows": (spec({"securityContext": {"runAsNonRoot": True}}, os={"name": "windows"}), ""),
}


@pytest.mark.parametrize("case", RESTRICTED)
def test_restricted(case: str) -> None:
    given, said = RESTRICTED[case]
    assert evaluate(LevelVersion("restricted"), {}, given).detail == said


def test_an_old_version_asks_for_less() -> None:
    given = spec(secured(allowPrivilegeEscalation=False, runAsNonRoot=True))
    assert evaluate(LevelVersion("restricted", "v1.18"), {}, given).allowed
    assert not evaluate(LevelVersion("restricted", "v1.19"), {}, given).allowed


def test_who_enforces_also_warns() -> None:
    policy, problems = policy_of({f"{LABEL}enforce": "baseline", f"{LABEL}enforce-version": "v1.30"})
    assert not problems
    assert [str(each) for each in policy] == ["baseline:v1.30", "privileged:latest", "baseline:v1.30"]


def test_who_enforces_a_level_that_is_none_warns_nobody() -> None:
    policy, problems = policy_of({f"{LABEL}enforce": "strict"})
    assert len(problems) == 1
    assert [str(each) for each in policy] == ["restricted:latest", "privileged:latest", "privileged:latest"]


async def warnings(server: ApiServer, path: str, body: Object) -> str:
    response = await server.handle(Request("POST", path, body=body, certificate=ADMIN, in_process=True))
    assert response.status == 201
    return response.headers.get("warning", "")


async def restrict(client: Client, **labels: str) -> None:
    await make_namespace(client, "safe")
    patch = {"metadata": {"labels": {f"{LABEL}{mode}": level for mode, level in labels.items()}}}
    await client.patch(NAMESPACES, "safe", patch)


async def test_a_pod_that_violates_is_forbidden(client: Client) -> None:
    await restrict(client, enforce="restricted")
    with pytest.raises(ApiError) as refused:
        await client.create(PODS, pod(), namespace="safe")
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    assert refused.value.message == (
        'pods "web" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false '
        '(container "app" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities '
        '(container "app" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container '
        '"app" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "app" must set '
        'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
    )


async def test_a_template_that_violates_is_warned_of(client: Client, server: ApiServer) -> None:
    await restrict(client, warn="baseline")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec({"image": "x"}, hostNetwork=True)}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    said = await warnings(server, "/apis/apps/v1/namespaces/safe/deployments", deployment)
    assert said == r'299 - "would violate PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)"'


async def test_labels_that_mean_nothing_are_invalid(client: Client) -> None:
    await make_namespace(client, "safe")
    with pytest.raises(ApiError) as refused:
        await client.patch(NAMESPACES, "safe", {"metadata": {"labels": {f"{LABEL}enforce": "strict"}}})
    assert refused.value.message == (
        'Namespace "safe" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": '
        "must be one of privileged, baseline, restricted"
    )


async def test_what_pods_were_judged_is_counted(client: Client) -> None:
    """TestValidatePodAndController of admission_test.go: what is allowed is told of enforcement alone."""

    async def counted() -> set[str]:
        page = (await client.send("GET", "/metrics")).body.decode()
        return {line for line in page.splitlines() if line.startswith("pod_security_")}

    def of(decision: str, mode: str, level: str, version: str, resource: str, operation: str = "create") -> str:
        return (
            f'pod_security_evaluations_total{{decision="{decision}",mode="{mode}",policy_level="{level}",'
            f'policy_version="{version}",request_operation="{operation}",resource="{resource}",subresource=""}}'
        )

    await make_namespace(client, "free")
    await client.create(PODS, pod("free"), namespace="free")
    await client.patch(PODS, "free", {"metadata": {"labels": {"a": "b"}}}, namespace="free")
    privileged = {
        f"{of('allow', 'enforce', 'privileged', 'latest', 'pod', operation)} 1" for operation in ("create", "update")
    }
    assert await counted() == privileged
    await restrict(
        client, **{"enforce": "baseline", "enforce-version": "v1.99", "audit": "restricted", "warn": "restricted"}
    )
    host = pod("host", hostNetwork=True)
    with pytest.raises(ApiError, match="violates PodSecurity"):
        await client.create(PODS, host, namespace="safe")
    await client.create(PODS, pod("fair"), namespace="safe")
    await client.patch(PODS, "fair", {"metadata": {"labels": {"a": "b"}}}, namespace="safe")  # nothing to judge
    template = {"metadata": {"name": "t"}, "template": {"metadata": {}, "spec": pod()["spec"]}}
    await client.create(GVR("", "v1", "podtemplates"), template, namespace="safe")
    assert await counted() == privileged | {
        f"{of('deny', 'enforce', 'baseline', 'future', 'pod')} 1",
        f"{of('allow', 'enforce', 'baseline', 'future', 'pod')} 1",
        f"{of('deny', 'audit', 'restricted', 'latest', 'pod')} 2",
        f"{of('deny', 'warn', 'restricted', 'latest', 'pod')} 1",
        f"{of('deny', 'audit', 'restricted', 'latest', 'controller')} 1",
        f"{of('deny', 'warn', 'restricted', 'latest', 'controller')} 1",
    }
