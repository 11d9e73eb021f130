"""Admission plugins that are off by default: what `--enable-admission-plugins` adds to the chain.

Source: the tests of plugin/pkg/admission/admit, deny, alwayspullimages, antiaffinity, extendedresourcetoleration, gc,
namespace/autoprovision, namespace/exists, network/denyserviceexternalips, podnodeselector, podtolerationrestriction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIGMAPS,
    NAMESPACES,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Object,
)
from engine.api.wire import ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN, account, config_map, pod

With = Callable[..., Awaitable[ApiServer]]


@pytest.fixture
async def started(world: World, store: SqliteStore) -> AsyncIterator[With]:
    servers = []

    async def start(*enabled: str, disabled: tuple[str, ...] = ()) -> ApiServer:
        config = ClusterConfig(enable_admission_plugins=enabled, disable_admission_plugins=disabled)
        server = ApiServer(world, store, config=config)
        servers.append(server)
        await server.start()
        if "AlwaysDeny" not in enabled:
            await _admin(server).create(SERVICE_ACCOUNTS, account("default"), namespace="default")
        return server

    yield start
    for server in servers:
        await server.stop()


def _client(server: ApiServer, name: str, *groups: str) -> Client:
    return Client(InProcessTransport(server, ClientCertificate(name, groups)), user_agent="test")


def _admin(server: ApiServer) -> Client:
    return _client(server, ADMIN.common_name, *ADMIN.organizations)


async def _refused(done: Awaitable[Any]) -> tuple[int, str, str]:
    with pytest.raises(ApiError) as caught:
        await done
    return caught.value.code, caught.value.reason, caught.value.message


async def _annotate(client: Client, **annotations: str) -> None:
    metadata = {"annotations": {f"scheduler.alpha.kubernetes.io/{key}": value for key, value in annotations.items()}}
    await client.patch(NAMESPACES, "default", {"metadata": metadata})


WRONG_OPTIONS: dict[str, tuple[UpOptions, str]] = {
    "unknown, on": (
        UpOptions(enable_admission_plugins="Priority,Magic"),
        'enable-admission-plugins plugin "Magic" is unknown',
    ),
    "unknown, off": (
        UpOptions(disable_admission_plugins="priority"),
        'disable-admission-plugins plugin "priority" is unknown',
    ),
    "on and off": (
        UpOptions(enable_admission_plugins="AlwaysDeny,Priority", disable_admission_plugins="Priority"),
        r"\[Priority\] in enable-admission-plugins and disable-admission-plugins overlapped",
    ),
}


@pytest.mark.parametrize("row", WRONG_OPTIONS)
def test_plugins_that_cannot_be_chosen(row: str) -> None:
    options, message = WRONG_OPTIONS[row]
    with pytest.raises(UsageError, match=message):
        configure(options)


def test_the_options_reach_the_engine() -> None:
    options = UpOptions(enable_admission_plugins="AlwaysAdmit,NamespaceExists", disable_admission_plugins="Priority")
    config = configure(options)
    assert config.enable_admission_plugins == ("AlwaysAdmit", "NamespaceExists")
    assert config.disable_admission_plugins == ("Priority",)
    assert options.arguments()[-7:-5] == [
        "--enable-admission-plugins=AlwaysAdmit,NamespaceExists", "--disable-admission-plugins=Priority",
    ]  # fmt: skip


async def test_what_is_off_by_default_has_no_say(started: With) -> None:
    client = _admin(await started())
    await _annotate(client, **{"node-selector": "a=b"})
    made = await client.create(PODS, pod(), namespace="default")
    assert "nodeSelector" not in made["spec"]
    assert made["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"


async def test_what_is_on_by_default_can_be_off(started: With) -> None:
    client = _admin(await started(disabled=("DefaultTolerationSeconds",)))
    made = await client.create(PODS, pod(), namespace="default")
    assert "tolerations" not in made["spec"]


async def test_always_deny(started: With) -> None:
    client = _admin(await started("AlwaysAdmit", "AlwaysDeny"))
    creating = client.create(CONFIGMAPS, config_map("a"), namespace="default")
    why = "admission control is denying all modifications"
    assert await _refused(creating) == (403, "Forbidden", f'configmaps "a" is forbidden: {why}')
    deleting = client.delete(NAMESPACES, "default")
    assert (await _refused(deleting))[0] == 403


async def test_always_pull_images(started: With) -> None:
    client = _admin(await started("AlwaysPullImages"))
    init = [{"name": "init", "image": "busybox:1", "imagePullPolicy": "Never"}]
    volumes = [{"name": "data", "image": {"reference": "quay.io/data:1", "pullPolicy": "Never"}}]
    made = await client.create(PODS, pod(initContainers=init, volumes=volumes), namespace="default")
    assert [each["imagePullPolicy"] for each in made["spec"]["initContainers"] + made["spec"]["containers"]] == [
        "Always", "Always",
    ]  # fmt: skip
    assert made["spec"]["volumes"][0]["image"]["pullPolicy"] == "Always"


ANTI_AFFINITY: dict[str, tuple[str, str, bool]] = {
    "of the node": ("requiredDuringSchedulingIgnoredDuringExecution", "kubernetes.io/hostname", True),
    "of the zone": ("requiredDuringSchedulingIgnoredDuringExecution", "topology.kubernetes.io/zone", False),
}


async def test_limit_pod_hard_anti_affinity_topology(started: With) -> None:
    client = _admin(await started("LimitPodHardAntiAffinityTopology"))
    for name, (field, key, fits) in ANTI_AFFINITY.items():
        term = {"topologyKey": key, "labelSelector": {}}
        made = client.create(PODS, pod("web", affinity={"podAntiAffinity": {field: [term]}}), namespace="default")
        if fits:
            await made
            continue
        assert await _refused(made) == (
            403,
            "Forbidden",
            'pods "web" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey '
            "topology.kubernetes.io/zone but only key kubernetes.io/hostname is allowed",
        ), name


EXTENDED: dict[str, tuple[dict[str, str], list[Object], list[Object]]] = {
    "none": ({"cpu": "1"}, [], []),
    "two, in the order of their names": (
        {"b.example.com/gpu": "1", "a.example.com/fpga": "2"},
        [],
        [
            {"key": "a.example.com/fpga", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "b.example.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        ],
    ),
    "one that is tolerated otherwise": (
        {"a.example.com/fpga": "2"},
        [{"key": "a.example.com/fpga", "operator": "Equal", "value": "x", "effect": "NoSchedule"}],
        [
            {"key": "a.example.com/fpga", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
            {"key": "a.example.com/fpga", "operator": "Exists", "effect": "NoSchedule"},
        ],
    ),
    "one that is tolerated already": (
        {"a.example.com/fpga": "2"},
        [{"key": "a.example.com/fpga", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": None}],
        [{"key": "a.example.com/fpga", "operator": "Exists", "effect": "NoSchedule"}],
    ),
}  # fmt: skip


async def test_extended_resource_toleration(started: With) -> None:
    client = _admin(await started("ExtendedResourceToleration", disabled=("DefaultTolerationSeconds",)))
    for number, (name, (resources, own, wanted)) in enumerate(EXTENDED.items()):
        containers = [{"name": "app", "image": "x", "resources": {"requests": resources, "limits": resources}}]
        asked = pod(f"web-{number}", containers=containers, tolerations=own)
        made = await client.create(PODS, asked, namespace="default")
        assert made["spec"].get("tolerations", []) == wanted, name


NO_NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
NO_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
SELECTORS: dict[str, tuple[str, dict[str, str], dict[str, str] | tuple[int, str, str]]] = {
    "none": ("", {}, {}),
    "the namespace's": ("infra=false, env = test", {}, {"infra": "false", "env": "test"}),
    "the same": ("infra=false", {"infra": "false"}, {"infra": "false"}),
    "both": ("infra=false", {"env": "test"}, {"infra": "false", "env": "test"}),
    "in conflict": (
        "infra=false",
        {"infra": "true"},
        (
            403,
            "Forbidden",
            'pods "{}" is forbidden: pod node label selector conflicts with its namespace node label selector',
        ),
    ),
    "no labels": ("infra", {}, (500, "", "invalid selector: [infra]")),
    "no key": ("a=b,=c", {}, (500, "", f'<nil>: Invalid value: "": name part must be non-empty; {NO_NAME}')),
    "no value": ("infra=-", {}, (500, "", f'[infra]: Invalid value: "-": {NO_VALUE}')),
}


async def test_pod_node_selector(started: With) -> None:
    client = _admin(await started("PodNodeSelector"))
    for number, (name, (selector, own, wanted)) in enumerate(SELECTORS.items()):
        await _annotate(client, **{"node-selector": selector})
        creating = client.create(PODS, pod(f"web-{number}", nodeSelector=own), namespace="default")
        if isinstance(wanted, tuple):
            assert await _refused(creating) == (*wanted[:2], wanted[2].format(f"web-{number}")), name
        else:
            assert (await creating)["spec"].get("nodeSelector", {}) == wanted, name
    await _annotate(client, **{"node-selector": "infra=false"})
    asked = pod(nodeSelector={"infra": "true"})
    code, _, told = await _refused(
        client.create(PODS, {**asked, "metadata": {"generateName": "web-"}}, namespace="default")
    )
    conflict = "pods is forbidden: pod node label selector conflicts with its namespace node label selector"
    assert (code, told) == (403, conflict)  # of a name that is not made yet nothing is told


KEYS = '[{"key": "testKey", "operator": "Equal", "value": "testValue", "effect": "NoSchedule"}]'
OTHER = '[{"key": "testKey", "operator": "Equal", "value": "testValue1", "effect": "NoSchedule"}]'
TOLERATION = {"key": "testKey", "operator": "Equal", "value": "testValue", "effect": "NoSchedule"}
PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
OWN = {"key": "own", "operator": "Exists"}
NOT_PERMITTED = (
    "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
)
TOLERATIONS: dict[str, tuple[str, str, list[Object], bool, list[Object] | str]] = {
    "none": ("", "", [], False, []),
    "its own": ("", "", [TOLERATION], False, [TOLERATION]),
    "the namespace's": (KEYS, "", [], False, [TOLERATION]),
    "the namespace's, permitted": (KEYS, KEYS, [], False, [TOLERATION]),
    "its own, permitted": ("", KEYS, [TOLERATION], False, [TOLERATION]),
    "its own, not permitted": ("", OTHER, [TOLERATION], False, NOT_PERMITTED),
    "the namespace's, not permitted": (KEYS, OTHER, [], False, NOT_PERMITTED),
    "with requests": ("", "", [], True, [PRESSURE]),
    "the namespace's, with requests": (KEYS, "", [], True, [TOLERATION, PRESSURE]),
    "its own before the namespace's": (KEYS, "", [OWN], True, [OWN, TOLERATION, PRESSURE]),
    "no list": (
        "{}",
        "",
        [],
        False,
        "json: cannot unmarshal object into Go value of type []v1.Toleration",
    ),
    "no JSON": ("{", "", [], False, "unexpected end of JSON input"),
}


async def test_pod_toleration_restriction(started: With) -> None:
    client = _admin(await started("PodTolerationRestriction", disabled=("DefaultTolerationSeconds",)))
    for number, (name, (defaults, whitelist, own, requests, wanted)) in enumerate(TOLERATIONS.items()):
        await _annotate(client, defaultTolerations=defaults, tolerationsWhitelist=whitelist)
        resources = {"requests": {"cpu": "1"}} if requests else {}
        containers = [{"name": "app", "image": "x", "resources": resources}]
        asked = pod(f"web-{number}", containers=containers, tolerations=own)
        creating = client.create(PODS, asked, namespace="default")
        if isinstance(wanted, str):
            assert await _refused(creating) == (500, "", wanted), name
        else:
            made = await creating
            assert made["spec"].get("tolerations", []) == wanted, name


async def test_deny_service_external_ips(started: With) -> None:
    client = _admin(await started("DenyServiceExternalIPs"))

    def service(name: str, *addresses: str) -> Object:
        spec = {"ports": [{"port": 80}], "externalIPs": list(addresses)}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}

    await client.create(SERVICES, service("none"), namespace="default")
    refusal = 'services "{}" is forbidden: Use of external IPs is denied by admission control'
    denied = await _refused(client.create(SERVICES, service("web", "1.2.3.4"), namespace="default"))
    assert denied == (403, "Forbidden", refusal.format("web"))
    patched = client.patch(SERVICES, "none", {"spec": {"externalIPs": ["1.2.3.4"]}}, namespace="default")
    assert await _refused(patched) == (403, "Forbidden", refusal.format("none"))


async def test_namespace_auto_provision(started: With) -> None:
    client = _admin(await started("NamespaceAutoProvision"))
    await client.create(CONFIGMAPS, config_map("a"), namespace="fresh")
    assert (await client.get(NAMESPACES, "fresh"))["status"] == {"phase": "Active"}
    dry = client.create(CONFIGMAPS, config_map("a"), namespace="dry", dry_run=True)
    assert await _refused(dry) == (404, "NotFound", 'namespaces "dry" not found')


async def test_namespace_exists_without_the_lifecycle(started: With) -> None:
    client = _admin(await started("NamespaceExists", disabled=("NamespaceLifecycle",)))
    creating = client.create(CONFIGMAPS, config_map("a"), namespace="missing")
    assert await _refused(creating) == (404, "NotFound", 'namespaces "missing" not found')


OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "1"}
BLOCKING = OWNER | {"blockOwnerDeletion": True}
NO_DELETE = "cannot set an ownerRef on a resource you can't delete: , <nil>"
NO_FINALIZERS = (
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"
)
NO_KIND = (
    "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Nothing: "
    'no matches for kind "Nothing" in version "v1"'
)
# What a user with these rights may make of an object: what it owns it before (None: it is made), and after.
OWNED: dict[str, tuple[str, list[Object] | None, list[Object], str]] = {
    "made with an owner": ("none", None, [OWNER], ""),
    "made blocking": ("none", None, [BLOCKING], NO_FINALIZERS),
    "made blocking, by who may": ("finalizes", None, [BLOCKING], ""),
    "given none": ("none", [], [], ""),
    "given an owner": ("none", [], [OWNER], NO_DELETE),
    "given an owner by who may": ("deletes", [], [OWNER], ""),
    "given a blocking one": ("deletes", [], [BLOCKING], NO_FINALIZERS),
    "blocking as before": ("deletes", [BLOCKING], [BLOCKING | {"controller": True}], ""),
    "blocking, now": ("deletes", [OWNER], [BLOCKING], NO_FINALIZERS),
    "blocking no more": ("deletes", [BLOCKING], [OWNER], ""),
    "of no kind": ("deletes", [], [BLOCKING | {"kind": "Nothing"}], NO_KIND),
}
RIGHTS = {"none": [], "deletes": ["delete"], "finalizes": ["update"]}


async def test_owner_references_permission_enforcement(started: With) -> None:
    server = await started("OwnerReferencesPermissionEnforcement")
    admin, group = _admin(server), "rbac.authorization.k8s.io"
    for user, verbs in RIGHTS.items():
        finalizers = ["configmaps/finalizers"] if user == "finalizes" else ["configmaps"]
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get", "update"]}]
        if verbs:
            rules.append({"apiGroups": [""], "resources": finalizers, "verbs": verbs})
        role = {"kind": "ClusterRole", "apiGroup": group, "name": user}
        await admin.create(CLUSTER_ROLES, _rbac("ClusterRole", user, rules=rules))
        subjects = [{"kind": "User", "apiGroup": group, "name": user}]
        await admin.create(CLUSTER_ROLE_BINDINGS, _rbac("ClusterRoleBinding", user, roleRef=role, subjects=subjects))
    for number, (row, (user, before, after, why)) in enumerate(OWNED.items()):
        name, client = f"owned-{number}", _client(server, user)
        if before is None:
            writing = client.create(CONFIGMAPS, _owned(name, after), namespace="default")
        else:
            stored = await admin.create(CONFIGMAPS, _owned(name, before), namespace="default")
            writing = client.update(CONFIGMAPS, stored | {"metadata": stored["metadata"] | {"ownerReferences": after}})
        if why:
            refusal = f'configmaps "{name}" is forbidden: {why}'
            assert await _refused(writing) == (403, "Forbidden", refusal), row
        else:
            await writing


def _rbac(kind: str, name: str, **fields: Any) -> Object:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **fields}


def _owned(name: str, owners: list[Object]) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": owners}}
