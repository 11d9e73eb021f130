"""The objects that a cluster is born with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, NAMESPACES, ROLE_BINDINGS, Object
from engine.apiserver.aggregation.api_services import API_SERVICES
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN


async def _born(clock: Clock, seed: int, *of: GVR, version: str = "") -> list[Object]:
    """Some of the objects of a new cluster."""
    world = World.create(clock=clock, seed=seed)
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    try:
        client = Client(InProcessTransport(server, ADMIN), user_agent="test")
        return [obj for resource in of for obj in (await client.list(resource)).items]
    finally:
        await server.stop()
        await store.close()


async def test_all_are_made_in_one_moment_however_long_it_takes() -> None:
    """Else their order by age were one of chance. Here a millisecond takes a second."""
    found = await _born(Clock(speed=1000), 1, NAMESPACES)
    assert len(found) == 4
    assert len({namespace["metadata"]["creationTimestamp"] for namespace in found}) == 1


async def test_each_cluster_of_a_process_has_uids_and_times_of_its_own() -> None:
    """What they have in common is worked out once."""
    now = datetime.now(UTC)
    first = await _born(Clock(), 1, NAMESPACES, API_SERVICES)
    second = await _born(Clock(epoch=now + timedelta(days=1)), 2, NAMESPACES, API_SERVICES)
    for one, other in zip(first, second, strict=True):
        for obj, day in (one, now), (other, now + timedelta(days=1)):
            times = [obj["metadata"]["creationTimestamp"], *(o["time"] for o in obj["metadata"]["managedFields"])]
            times += [each["lastTransitionTime"] for each in obj.get("status", {}).get("conditions", ())]
            assert all(abs(datetime.fromisoformat(time) - day) < timedelta(hours=1) for time in times), obj
        assert one["metadata"]["name"] == other["metadata"]["name"]
        assert one["metadata"]["uid"] != other["metadata"]["uid"]


async def test_roles_of_controllers() -> None:
    """Source: pkg/auth/authorizer/rbac/bootstrappolicy testdata, controller-roles.yaml."""
    born = await _born(Clock(), 1, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
    found = {(obj["kind"], obj["metadata"]["name"].rpartition(":")[2]): obj for obj in born}
    read = ["get", "list", "watch"]
    assert found["ClusterRole", "selinux-warning-controller"]["rules"] == [
        {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch", "update"]},
        {"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": read},
        {"apiGroups": [""], "resources": ["persistentvolumeclaims"], "verbs": read},
        {"apiGroups": [""], "resources": ["pods"], "verbs": read},
        {"apiGroups": ["storage.k8s.io"], "resources": ["csidrivers"], "verbs": read},
    ]
    assert found["ClusterRoleBinding", "selinux-warning-controller"]["subjects"] == [
        {"kind": "ServiceAccount", "name": "selinux-warning-controller", "namespace": "kube-system"}
    ]
    for name in ("persistent-volume-binder", "expand-controller"):
        resources = [resource for rule in found["ClusterRole", name]["rules"] for resource in rule["resources"]]
        assert "services" not in resources
    told = {name: [_told(rule) for rule in found["ClusterRole", name]["rules"]] for name in _ROLES}
    assert told == _ROLES


# Roles that a release is the first to have, and rules that it is the first to have in one.
_SINCE: dict[str, tuple[set[str], dict[str, list[tuple[str, str, str, str]]]]] = {
    "1.33.0": (set(), {}),
    "1.34.0": (
        {
            "system:controller:resource-claim-controller",
            "system:controller:volumeattributesclass-protection-controller",
        },
        {
            "system:kube-scheduler": [
                ("resource.k8s.io", "deviceclasses", "", "get,list,watch"),
                ("resource.k8s.io", "resourceclaims", "", "get,list,patch,update,watch"),
                ("resource.k8s.io", "resourceclaims/status", "", "get,list,patch,update,watch"),
                ("", "pods/finalizers", "", "get,list,patch,update,watch"),
                ("resource.k8s.io", "resourceslices", "", "get,list,watch"),
            ],
            "system:node": [
                ("resource.k8s.io", "resourceclaims", "", "get"),
                ("resource.k8s.io", "resourceslices", "", "deletecollection"),
                ("", "serviceaccounts", "", "get"),
            ],
        },
    ),
    "1.36.0": (
        {"system:controller:device-taint-eviction-controller"},
        {
            "system:kube-scheduler": [
                ("resource.k8s.io", "resourceclaims", "", "create,delete"),
                ("resource.k8s.io", "resourceclaims/binding", "", "patch,update"),
            ],
            "system:node": [],
        },
    ),
    "1.37.0": (
        {
            "system:cluster-trust-bundle-discovery",
            "system:controller:kube-apiserver-serving-clustertrustbundle-publisher",
            "system:controller:podcertificaterequestcleaner",
            "system:controller:storage-version-migrator-controller",
        },
        {
            "system:controller:node-controller": [("coordination.k8s.io", "leases", "", "get,list,watch")],
            "system:kube-scheduler": [("resource.k8s.io", "devicetaintrules", "", "get,list,watch")],
            "system:node": [
                ("certificates.k8s.io", "clustertrustbundles", "", "get,list,watch"),
                ("certificates.k8s.io", "podcertificaterequests", "", "create,get,list,watch"),
            ],
        },
    ),
}


async def test_roles_are_there_from_their_release_on() -> None:
    """Source: cluster-roles-featuregates.yaml, controller-roles-featuregates.yaml and the features of each release."""
    before: dict[str, list[Object]] = {}
    for version, (roles, rules) in _SINCE.items():
        born = await _born(Clock(), 1, CLUSTER_ROLES, version=version)
        found = {role["metadata"]["name"]: role["rules"] for role in born}
        if before:
            assert found.keys() - before.keys() == roles
            for name, added in rules.items():
                assert [_told(rule) for rule in found[name] if rule not in before[name]] == added
        before = found
    for name, rules_of in before.items():
        for rule in rules_of:
            if rule.get("apiGroups") != ["metrics.k8s.io"]:  # which came with a manifest
                assert all(part == sorted(part) for part in rule.values()), name
    assert [_told(rule) for rule in before["system:kube-scheduler"]][1:4] == [
        ("coordination.k8s.io", "leases", "", "create"),
        ("coordination.k8s.io", "leases", "kube-scheduler", "get,list,update,watch"),
        ("coordination.k8s.io", "leasecandidates", "", "create,delete,deletecollection,get,list,patch,update,watch"),
    ]


async def test_who_reads_how_to_ask_who_asks() -> None:
    """Source: namespace-role-bindings.yaml, cluster-role-bindings.yaml."""
    born = await _born(Clock(), 1, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)
    found = {binding["metadata"]["name"]: binding for binding in born}
    reader = found["system::extension-apiserver-authentication-reader"]
    assert reader["roleRef"]["name"] == "extension-apiserver-authentication-reader"
    assert [(each["kind"], each["name"]) for each in reader["subjects"]] == [
        ("User", "system:kube-controller-manager"), ("User", "system:kube-scheduler"),
    ]  # fmt: skip
    (group,) = found["system:cluster-trust-bundle-discovery"]["subjects"]
    assert (group["kind"], group["name"]) == ("Group", "system:serviceaccounts")


# By controller: groups, resources, the names that are meant, verbs.
_EVENTS = (",events.k8s.io", "events", "", "create,patch,update")
_READ = "get,list,watch"
_ROLES = {
    "device-taint-eviction-controller": [
        ("", "pods", "", f"delete,{_READ}"),
        ("", "pods/status", "", "patch,update"),
        ("resource.k8s.io", "resourceclaims", "", _READ),
        ("resource.k8s.io", "resourceslices", "", _READ),
        ("resource.k8s.io", "deviceclasses", "", _READ),
        _EVENTS,
        ("resource.k8s.io", "devicetaintrules/status", "", "patch,update"),
        ("resource.k8s.io", "devicetaintrules", "", _READ),
    ],
    "kube-apiserver-serving-clustertrustbundle-publisher": [
        ("certificates.k8s.io", "signers", "kubernetes.io/kube-apiserver-serving", "attest"),
        ("certificates.k8s.io", "clustertrustbundles", "", "create,delete,list,update,watch"),
        _EVENTS,
    ],
    "podcertificaterequestcleaner": [("certificates.k8s.io", "podcertificaterequests", "", f"delete,{_READ}")],
    "storage-version-migrator-controller": [
        ("*", "*", "", "list,patch"),
        ("apiextensions.k8s.io", "customresourcedefinitions", "", "get"),
        ("apiextensions.k8s.io", "customresourcedefinitions/status", "", "patch"),
        ("storagemigration.k8s.io", "storageversionmigrations/status", "", "update"),
    ],
}


def _told(rule: Object) -> tuple[str, ...]:
    return tuple(",".join(rule.get(key, ())) for key in ("apiGroups", "resources", "resourceNames", "verbs"))
