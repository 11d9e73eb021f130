"""What a ResourceQuotaConfiguration limits is consumed only under a quota that covers it (TestAdmitLimitedResource…,
TestAdmitLimitedScopeWithCoverQuota of apiserver pkg/admission/plugin/resourcequota)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, PODS, SERVICE_ACCOUNTS, SERVICES, Object
from engine.client import Client
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import account, pod
from tests.apiserver.test_admission_configuration import client as client_of
from tests.apiserver.test_admission_configuration import served, written

QUOTAS = GVR("", "v1", "resourcequotas")
DEPLOYMENTS = GVR("apps", "v1", "deployments")
CRITICAL = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-cluster-critical"]}
ACROSS = {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"}
LIMITED = [
    {"resource": "pods", "matchContains": ["requests.cpu"], "matchScopes": [CRITICAL, ACROSS]},
    {"resource": "services", "matchContains": ["nodeports"]},
    {"apiGroup": "apps", "resource": "deployments", "matchContains": ["count/"]},
]
V1 = "apiserver.config.k8s.io/v1"


@pytest.fixture
async def limited(world: World, store: SqliteStore, tmp_path: Path) -> AsyncIterator[Client]:
    file = written(tmp_path, "ResourceQuota", V1, "ResourceQuotaConfiguration", limitedResources=LIMITED)
    async with served(world, store, file) as server:
        client = client_of(server)
        await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
        yield client


async def quota(client: Client, name: str, hard: dict[str, str], **spec: Any) -> None:
    body = {"metadata": {"name": name}, "spec": {"hard": hard, **spec}}
    made = await client.create(QUOTAS, body, namespace="default")
    await client.update_status(QUOTAS, {**made, "status": {"hard": hard, "used": dict.fromkeys(hard, "0")}})


async def told(client: Client, gvr: GVR, obj: Object) -> tuple[int, str]:
    try:
        await client.create(gvr, obj, namespace="default")
    except ApiError as error:
        return error.code, error.message
    return 201, ""


def asking(name: str, **requests: str) -> Object:
    return pod(name, containers=[{"name": "app", "image": "i", "resources": {"requests": requests}}])


async def test_no_quota_no_consumption(limited: Client) -> None:
    none = "is forbidden: insufficient quota to consume:"
    assert await told(limited, PODS, asking("memory", memory="1Gi")) == (201, "")
    assert await told(limited, PODS, asking("cpu", cpu="1")) == (403, f'pods "cpu" {none} requests.cpu')
    await quota(limited, "other", {"pods": "5", "services": "5"})
    assert await told(limited, PODS, asking("cpu", cpu="1")) == (403, f'pods "cpu" {none} requests.cpu')
    await quota(limited, "cpu", {"requests.cpu": "1"})
    assert await told(limited, PODS, asking("cpu", cpu="1")) == (201, "")
    assert (await told(limited, PODS, asking("more", cpu="1")))[1].startswith(
        'pods "more" is forbidden: exceeded quota'
    )

    ports = {"ports": [{"port": 80}], "type": "NodePort"}
    assert await told(limited, SERVICES, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}) == (201, "")
    assert await told(limited, SERVICES, {"metadata": {"name": "b"}, "spec": ports}) == (
        403, f'services "b" {none} services.nodeports',
    )  # fmt: skip


async def test_what_takes_nothing_more_needs_no_cover(limited: Client) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    web = {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}
    why = 'deployments.apps "web" is forbidden: insufficient quota to consume: count/deployments.apps'
    assert await told(limited, DEPLOYMENTS, web) == (403, why)
    await quota(limited, "q", {"count/deployments.apps": "1"})
    assert await told(limited, DEPLOYMENTS, web) == (201, "")
    await limited.delete(QUOTAS, "q", namespace="default")
    await limited.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 3}}, namespace="default")


async def test_scopes_are_covered_by_quotas_of_theirs(limited: Client) -> None:
    none = "insufficient quota to match these scopes:"
    critical = pod("critical", priorityClassName="system-cluster-critical")
    term = {"topologyKey": "zone", "namespaces": ["other"], "labelSelector": {}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    both = pod("both", priorityClassName="system-cluster-critical", affinity=affinity)
    in_class, across = "{PriorityClass In [system-cluster-critical]}", "{CrossNamespacePodAffinity Exists []}"
    assert await told(limited, PODS, critical) == (500, f"{none} [{in_class}]")
    assert await told(limited, PODS, both) == (500, f"{none} [{in_class} {across}]")
    await quota(limited, "another", {"pods": "5"}, scopeSelector={"matchExpressions": [{**CRITICAL, "values": ["x"]}]})
    assert await told(limited, PODS, critical) == (500, f"{none} [{in_class}]")
    await quota(limited, "critical", {"pods": "5"}, scopeSelector={"matchExpressions": [CRITICAL]})
    assert await told(limited, PODS, critical) == (201, "")
    assert await told(limited, PODS, both) == (500, f"{none} [{across}]")
    await quota(limited, "across", {"pods": "0"}, scopes=["CrossNamespacePodAffinity"])
    assert (await told(limited, PODS, both))[1].startswith('pods "both" is forbidden: exceeded quota: across')


@pytest.mark.parametrize(
    ("version", "kind", "limited", "why"),
    [
        (V1, "ResourceQuotaConfiguration", {}, "limitedResources[0].resource: Required value"),
        ("resourcequota.admission.k8s.io/v1beta1", "Configuration", {"resource": "pods"}, ""),
        (V1, "Configuration", {}, f'no kind "Configuration" is registered for version "{V1}"'),
    ],
)
def test_configurations(tmp_path: Path, version: str, kind: str, limited: Object, why: str) -> None:
    file = written(tmp_path, "ResourceQuota", version, kind, limitedResources=[limited])
    options = UpOptions(admission_control_config_file=str(file))
    if not why:
        assert configure(options).admission_control_config_file == file
        return
    with pytest.raises(UsageError) as error:
        configure(options)
    assert str(error.value).endswith(f'couldn\'t init admission plugin "ResourceQuota": {why}')
