"""Which events are worth another try to a Pod that a plugin turned away (upstream's isSchedulableAfter... tables)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, QueueingHint
from engine.scheduler.framework.plugin import Plugin
from engine.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from engine.scheduler.plugins.node_affinity import NodeAffinity
from engine.scheduler.plugins.node_name import NodeName
from engine.scheduler.plugins.node_ports import NodePorts
from engine.scheduler.plugins.node_resources_fit import NodeResourcesFit
from engine.scheduler.plugins.node_unschedulable import NodeUnschedulable
from engine.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from engine.scheduler.plugins.pod_topology_spread import PodTopologySpread
from engine.scheduler.plugins.taint_toleration import TaintToleration
from engine.scheduler.plugins.volume_binding import VolumeBinding
from engine.scheduler.plugins.volume_restrictions import VolumeRestrictions
from engine.scheduler.plugins.volume_zone import VolumeZone
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.devices import device_class
from tests.scheduler.harness import Bench
from tests.scheduler.objects import affinity, container, near, node, pod, spread, taint

BENCH = Bench()
EXISTS = {"operator": "Exists"}


def helps(
    kind: type[Plugin], event: ClusterEvent, waiting: Object, old: Any, new: Any, *, bench: Bench = BENCH
) -> bool:
    """Whether the plugin asks for the event, and its hint says that it helps."""
    plugin = bench.plugin(kind)
    info = PodInfo(waiting)
    return any(
        asked.matches(event) and hint(info, old, new) is QueueingHint.QUEUE
        for asked, hint in plugin.events_to_register()
    )


def pod_event(old: Object | None, new: Object | None, action: Action) -> tuple[Any, Any, ClusterEvent]:
    """A change of a Pod on a node, or of the waiting Pod itself."""
    before, after = (PodInfo(each) if each is not None else None for each in (old, new))
    resource = EventResource.TARGET_POD if after is not None and after.name == "p" else EventResource.ASSIGNED_POD
    if before is None:
        action = Action.ADD
    elif after is None:
        action = Action.DELETE
    return before, after, ClusterEvent(resource, action)


def there(labels: dict[str, str], **fields: Any) -> Object:
    return pod("other", node_name=fields.pop("on", "n"), labels=labels, **fields)


MATCH, OTHER = {"service": "scan"}, {"aaa": "a"}
NEAR = pod("p", affinity=affinity(near=[near("zone", MATCH)]))
NEAR_BOTH = pod("p", affinity=affinity(near=[near("host", {"aaa": "a"}), near("host", {"bbb": "b"})]))
FAR = pod("p", affinity=affinity(far=[near("zone", MATCH)]))
FAR_BOTH = pod("p", affinity=affinity(far=[near("zone", {"aaa": "a"}), near("host", {"bbb": "b"})]))
KEEPS_OFF = {"affinity": affinity(far=[near("zone", MATCH)])}
NOMINATED: dict[str, Any] = {"on": "", "status": {"nominatedNodeName": "n"}}


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(NEAR, None, there(MATCH), True, id="one that is wanted comes"),
        pytest.param(NEAR, None, there(OTHER), False, id="another comes"),
        pytest.param(NEAR, None, there(MATCH, on=""), False, id="one that is wanted waits itself"),
        pytest.param(NEAR, there(OTHER), there(MATCH), True, id="one becomes wanted"),
        pytest.param(NEAR, there(MATCH), there({**MATCH, **OTHER}), False, id="one stays wanted"),
        pytest.param(NEAR, there(OTHER, on=""), there(MATCH, on=""), False, id="one that waits becomes wanted"),
        pytest.param(NEAR, there(MATCH), there(OTHER), False, id="one is no longer wanted"),
        pytest.param(NEAR, there(MATCH), None, False, id="one that is wanted goes"),
        pytest.param(NEAR_BOTH, there({"aaa": "a"}), there(MATCH), False, id="one loses one of two labels"),
        pytest.param(NEAR_BOTH, there({"aaa": "a"}), there({"aaa": "a", "bbb": "b"}), True, id="one gets both labels"),
        pytest.param(pod("p"), pod("p", labels={"foo": "a"}), pod("p", labels={"foo": "b"}), True, id="itself"),
        pytest.param(FAR, there(MATCH), there(OTHER), True, id="one is no longer in the way"),
        pytest.param(FAR, there(OTHER), there(MATCH), False, id="one comes into the way"),
        pytest.param(FAR_BOTH, there({"aaa": "a"}), None, True, id="one in the way of one term goes"),
        pytest.param(
            FAR_BOTH, there({"aaa": "a", "bbb": "b"}), there({"bbb": "b"}), True, id="one of two terms is met"
        ),
        pytest.param(
            FAR_BOTH, there({"bbb": "b"}), there({"aaa": "a", "bbb": "b"}), False, id="both terms are not met"
        ),
        pytest.param(FAR, there(OTHER), None, False, id="another goes"),
        pytest.param(FAR, there(MATCH), None, True, id="one in the way goes"),
        pytest.param(FAR, there(MATCH, on=""), None, False, id="one in the way goes that waited itself"),
        pytest.param(NEAR, None, there(MATCH, **NOMINATED), True, id="one that is wanted is nominated"),
        pytest.param(NEAR, None, there(OTHER, **NOMINATED), False, id="another is nominated"),
        pytest.param(NEAR, there(OTHER, **NOMINATED), there(MATCH, **NOMINATED), True, id="a nominated one is wanted"),
        pytest.param(FAR, there(MATCH, **NOMINATED), None, True, id="one in the way goes that was nominated"),
        pytest.param(FAR, there(OTHER, **NOMINATED), None, False, id="one goes that was nominated"),
        pytest.param(pod("p", labels=MATCH), there({}, **KEEPS_OFF), None, True, id="one goes that kept it off"),
        pytest.param(pod("p", labels=OTHER), there({}, **KEEPS_OFF), None, False, id="one goes that kept others off"),
    ],
)
def test_pod_affinity_after_pods(waiting: Object, old: Object | None, new: Object | None, expected: bool) -> None:
    before, after, event = pod_event(old, new, Action.UPDATE_POD_LABEL)
    assert helps(InterPodAffinity, event, waiting, before, after) is expected


def labelled(**labels: str) -> Object:
    return {**node("n"), "metadata": {"name": "n", "labels": labels}}


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(NEAR, None, labelled(zone="1"), True, id="near, in a domain"),
        pytest.param(NEAR, None, labelled(region="1"), False, id="near, in none"),
        pytest.param(NEAR, labelled(aaa="a"), labelled(aaa="b"), False, id="near, another label"),
        pytest.param(NEAR, labelled(zone="1"), labelled(zone="1", aaa="a"), False, id="near, the same domain"),
        pytest.param(NEAR, labelled(zone="1"), labelled(zone="2"), True, id="near, another domain"),
        pytest.param(NEAR, labelled(), labelled(zone="1"), True, id="near, into a domain"),
        pytest.param(FAR, None, labelled(zone="1"), True, id="far, in a domain"),
        pytest.param(FAR, None, labelled(), True, id="far, in none"),
        pytest.param(FAR, labelled(zone="1"), labelled(zone="1", aaa="a"), False, id="far, the same domain"),
        pytest.param(FAR, labelled(zone="1"), labelled(zone="2"), True, id="far, another domain"),
        pytest.param(FAR, labelled(aaa="a"), labelled(zone="1"), False, id="far, into a domain"),
        pytest.param(FAR, labelled(zone="1"), labelled(aaa="a"), True, id="far, out of a domain"),
    ],
)
def test_pod_affinity_after_nodes(waiting: Object, old: Object | None, new: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.NODE, Action.ADD if old is None else Action.UPDATE_NODE_LABEL)
    assert helps(InterPodAffinity, event, waiting, old, new) is expected


FOO, BAR = {"foo": "1"}, {"bar": "1"}
ONE = pod("p", labels=FOO, topologySpreadConstraints=[spread("zone", FOO)])
TWO = pod("p", labels=FOO, topologySpreadConstraints=[spread("zone", FOO), spread("host", BAR)])
HONORS = pod("p", labels=FOO, topologySpreadConstraints=[spread("zone", FOO, nodeTaintsPolicy="Honor")])


@pytest.mark.parametrize(
    ("waiting", "old", "new", "action", "expected"),
    [
        pytest.param(ONE, None, there(FOO), Action.ADD, True, id="a match comes"),
        pytest.param(ONE, None, there(FOO, on=""), Action.ADD, False, id="a match waits itself"),
        pytest.param(ONE, there(BAR, on=""), there(FOO, on=""), Action.UPDATE_POD_LABEL, False, id="one that waits"),
        pytest.param(ONE, there(FOO, on=""), None, Action.DELETE, False, id="a match goes that waited itself"),
        pytest.param(ONE, None, there(FOO, **NOMINATED), Action.ADD, True, id="a match is nominated"),
        pytest.param(ONE, None, there(BAR, **NOMINATED), Action.ADD, False, id="no match is nominated"),
        pytest.param(ONE, there(FOO, **NOMINATED), None, Action.DELETE, True, id="a nominated match goes"),
        pytest.param(ONE, None, there(FOO, namespace="x"), Action.ADD, False, id="in another namespace"),
        pytest.param(ONE, None, there(BAR), Action.ADD, False, id="no match comes"),
        pytest.param(ONE, there(FOO), None, Action.DELETE, True, id="a match goes"),
        pytest.param(ONE, there(BAR), None, Action.DELETE, False, id="no match goes"),
        pytest.param(ONE, there(FOO), there({**FOO, **BAR}), Action.UPDATE_POD_LABEL, False, id="another label"),
        pytest.param(ONE, there({}), there(FOO), Action.UPDATE_POD_LABEL, True, id="becomes a match"),
        pytest.param(ONE, there(FOO), there({}), Action.UPDATE_POD_LABEL, True, id="is no match any more"),
        pytest.param(TWO, there(FOO), there({**FOO, **BAR}), Action.UPDATE_POD_LABEL, True, id="one of two"),
        pytest.param(TWO, there(FOO), there({**FOO, "baz": "1"}), Action.UPDATE_POD_LABEL, False, id="none of two"),
        pytest.param(
            HONORS,
            pod("p", labels=FOO),
            pod("p", labels=FOO, tolerations=[EXISTS]),
            Action.UPDATE_POD_TOLERATION,
            True,
            id="a toleration where taints count",
        ),
        pytest.param(
            ONE,
            pod("p", labels=FOO),
            pod("p", labels=FOO, tolerations=[EXISTS]),
            Action.UPDATE_POD_TOLERATION,
            False,
            id="a toleration where taints do not count",
        ),
        pytest.param(
            ONE, pod("p", labels=FOO), pod("p", labels=BAR), Action.UPDATE_POD_LABEL, True, id="its own label"
        ),
        pytest.param(
            ONE,
            pod("p", labels=FOO),
            pod("p", labels={**FOO, **BAR}),
            Action.UPDATE_POD_LABEL,
            False,
            id="a label of its own that nobody asks for",
        ),
    ],
)
def test_spread_after_pods(
    waiting: Object, old: Object | None, new: Object | None, action: Action, expected: bool
) -> None:
    before, after, event = pod_event(old, new, action)
    assert helps(PodTopologySpread, event, waiting, before, after) is expected


def test_older_versions_count_no_nominated_pods() -> None:
    bench = Bench(version="v1.35.0")
    before, after, event = pod_event(None, there({**MATCH, **FOO}, **NOMINATED), Action.ADD)
    assert not helps(InterPodAffinity, event, NEAR, before, after, bench=bench)
    assert not helps(PodTopologySpread, event, ONE, before, after, bench=bench)


def tainted(found: Object, *taints: Object) -> Object:
    return {**found, "spec": {"taints": list(taints)}}


@pytest.mark.parametrize(
    ("waiting", "old", "new", "action", "expected"),
    [
        pytest.param(ONE, labelled(zone="1"), labelled(zone="2"), Action.UPDATE_NODE_LABEL, True, id="another domain"),
        pytest.param(ONE, labelled(a="1"), labelled(a="2"), Action.UPDATE_NODE_LABEL, False, id="in no domain"),
        pytest.param(
            TWO,
            labelled(zone="1", host="1", a="1"),
            labelled(zone="1", host="1"),
            Action.UPDATE_NODE_LABEL,
            False,
            id="another label",
        ),
        pytest.param(ONE, None, labelled(a="1"), Action.ADD, False, id="comes in no domain"),
        pytest.param(ONE, None, labelled(zone="1"), Action.ADD, True, id="comes in a domain"),
        pytest.param(ONE, labelled(a="1"), None, Action.DELETE, False, id="goes from no domain"),
        pytest.param(ONE, labelled(zone="1"), None, Action.DELETE, True, id="goes from a domain"),
        pytest.param(TWO, None, labelled(zone="1"), Action.ADD, False, id="comes in one of two domains"),
        pytest.param(TWO, None, labelled(zone="1", host="1"), Action.ADD, True, id="comes in both domains"),
        pytest.param(
            TWO,
            tainted(labelled(zone="1", host="1"), taint("a")),
            tainted(labelled(zone="1", host="1"), taint("b")),
            Action.UPDATE_NODE_TAINT,
            True,
            id="another taint",
        ),
        pytest.param(
            TWO,
            tainted(labelled(host="1"), taint("a")),
            tainted(labelled(host="1"), taint("b")),
            Action.UPDATE_NODE_TAINT,
            False,
            id="another taint in one of two domains",
        ),
    ],
)
def test_spread_after_nodes(
    waiting: Object, old: Object | None, new: Object | None, action: Action, expected: bool
) -> None:
    assert helps(PodTopologySpread, ClusterEvent(EventResource.NODE, action), waiting, old, new) is expected


def holding(name: str = "other", on: str = "n", **requests: str) -> Object:
    return pod(name, node_name=on, containers=[container(requests=requests)])


def asks(**requests: str) -> Object:
    return holding("p", on="", **requests)


def as_a_whole(name: str, on: str = "n", **requests: str) -> Object:
    return pod(name, node_name=on, resources={"requests": requests})


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(asks(cpu="1"), holding(cpu="1"), None, True, id="a pod goes"),
        pytest.param(asks(), holding(on=""), None, False, id="a pod goes that waited itself"),
        pytest.param(asks(cpu="1"), holding(on="", cpu="2"), holding(on="", cpu="1"), False, id="waits itself"),
        pytest.param(asks(cpu="1"), holding(memory="2"), holding(memory="1"), False, id="another resource"),
        pytest.param(asks(cpu="1"), holding(cpu="2"), holding(cpu="1"), True, id="less of what is wanted"),
        pytest.param(asks(cpu="1"), asks(cpu="2"), asks(cpu="1"), True, id="itself wants less"),
        pytest.param(
            as_a_whole("p", on="", cpu="1"),
            as_a_whole("other", memory="2"),
            as_a_whole("other", memory="1"),
            False,
            id="another resource of the pod as a whole",
        ),
        pytest.param(
            as_a_whole("p", on="", cpu="1"),
            as_a_whole("other", cpu="2"),
            as_a_whole("other", cpu="1"),
            True,
            id="less of the pod as a whole",
        ),
    ],
)
def test_resources_after_pods(waiting: Object, old: Object, new: Object | None, expected: bool) -> None:
    before, after, event = pod_event(old, new, Action.UPDATE_POD_SCALE_DOWN)
    assert helps(NodeResourcesFit, event, waiting, before, after) is expected


GPU = "example.com/gpu"
IMPLICIT = "deviceclass.resource.kubernetes.io/gpu"


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(asks(cpu="1"), None, device_class(extendedResourceName=GPU), False, id="not asked for"),
        pytest.param(asks(**{GPU: "1"}), None, device_class(extendedResourceName=GPU), True, id="comes"),
        pytest.param(asks(**{GPU: "1"}), None, device_class(), False, id="comes without a name"),
        pytest.param(asks(**{IMPLICIT: "1"}), None, device_class(), True, id="comes, asked for by its own name"),
        pytest.param(
            asks(**{GPU: "1"}), device_class(), device_class(extendedResourceName=GPU), True, id="gets the name"
        ),
        pytest.param(
            asks(**{GPU: "1"}),
            device_class(extendedResourceName=GPU),
            device_class("gpu", "true", extendedResourceName=GPU),
            False,
            id="has it already",
        ),
        pytest.param(
            asks(**{GPU: "1"}), device_class(extendedResourceName=GPU), device_class(), False, id="loses the name"
        ),
        pytest.param(asks(**{IMPLICIT: "1"}), device_class(), device_class("gpu", "true"), False, id="its own name"),
    ],
)
def test_resources_after_classes(waiting: Object, old: Object | None, new: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.DEVICE_CLASS, Action.ADD if old is None else Action.UPDATE)
    assert helps(NodeResourcesFit, event, waiting, old, new) is expected


def test_a_node_may_have_a_resource_as_devices() -> None:
    bench = Bench(others=[device_class(extendedResourceName=GPU)])
    event = ClusterEvent(EventResource.NODE, Action.UPDATE_NODE_ALLOCATABLE)
    waiting = asks(**{GPU: "1"})
    assert helps(NodeResourcesFit, event, waiting, node("n"), node("n"), bench=bench)
    full = node("n", allocatable={GPU: "1"})
    assert not helps(NodeResourcesFit, event, waiting, full, full, bench=bench)


def test_without_constraints_any_node_may_help_the_spread() -> None:
    event = ClusterEvent(EventResource.NODE, Action.ADD)
    assert helps(PodTopologySpread, event, pod("p"), None, labelled())


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(asks(memory="2"), None, node("n", memory="1"), False, id="comes too small"),
        pytest.param(asks(**{GPU: "1"}), None, node("n"), False, id="comes without"),
        pytest.param(
            asks(memory="2", **{GPU: "1"}),
            None,
            node("n", memory="4", allocatable={GPU: "2"}),
            True,
            id="comes big enough",
        ),
        pytest.param(
            asks(memory="2", **{GPU: "1"}),
            node("n", memory="2", allocatable={GPU: "2"}),
            node("n", memory="2", allocatable={GPU: "1", "example.com/other": "2"}),
            False,
            id="more of another resource",
        ),
        pytest.param(
            asks(memory="2", **{GPU: "1"}),
            node("n", memory="2", allocatable={GPU: "1"}),
            node("n", memory="2", allocatable={GPU: "2"}),
            True,
            id="more of what is wanted",
        ),
        pytest.param(asks(memory="2"), node("n", memory="4"), node("n", memory="1"), False, id="shrinks"),
        pytest.param(asks(memory="2"), node("n", memory="1"), node("n", memory="4"), True, id="grows"),
        pytest.param(asks(), node("n", pods=1), node("n", pods=2), True, id="takes more pods"),
    ],
)
def test_resources_after_nodes(waiting: Object, old: Object | None, new: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.NODE, Action.ADD if old is None else Action.UPDATE_NODE_ALLOCATABLE)
    assert helps(NodeResourcesFit, event, waiting, old, new) is expected


PINNED = pod("p", nodeSelector={"zone": "1"})
UNREADABLE = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["few"]}]}]
        }
    }
}
PORT = pod("p", containers=[container(ports=[{"containerPort": 80, "hostPort": 80}])])
CLOSED = {**node("n"), "spec": {"unschedulable": True}}


@pytest.mark.parametrize(
    ("kind", "waiting", "old", "new", "action", "expected"),
    [
        pytest.param(NodeAffinity, PINNED, None, labelled(zone="1"), Action.ADD, True, id="selected, comes"),
        pytest.param(NodeAffinity, PINNED, None, labelled(zone="2"), Action.ADD, False, id="not selected, comes"),
        pytest.param(
            NodeAffinity, pod("p", affinity=UNREADABLE), None, labelled(), Action.ADD, True, id="who knows, comes"
        ),
        pytest.param(
            NodeAffinity,
            pod("p", affinity=UNREADABLE, nodeSelector={"zone": "1"}),
            None,
            labelled(zone="2"),
            Action.ADD,
            False,
            id="not selected anyhow, comes",
        ),
        pytest.param(
            NodeAffinity, PINNED, labelled(zone="2"), labelled(zone="1"), Action.UPDATE_NODE_LABEL, True, id="selected"
        ),
        pytest.param(
            NodeAffinity,
            PINNED,
            labelled(zone="1"),
            labelled(zone="1", a="b"),
            Action.UPDATE_NODE_LABEL,
            False,
            id="selected as before",
        ),
        pytest.param(TaintToleration, pod("p"), None, node("n"), Action.ADD, True, id="free of taints, comes"),
        pytest.param(
            TaintToleration, pod("p"), None, tainted(node("n"), taint("a")), Action.ADD, False, id="tainted, comes"
        ),
        pytest.param(
            TaintToleration,
            pod("p"),
            tainted(node("n"), taint("a")),
            node("n"),
            Action.UPDATE_NODE_TAINT,
            True,
            id="a taint goes",
        ),
        pytest.param(
            TaintToleration,
            pod("p"),
            tainted(node("n"), taint("a")),
            tainted(node("n"), taint("b")),
            Action.UPDATE_NODE_TAINT,
            False,
            id="another taint",
        ),
        pytest.param(
            TaintToleration, pod("p"), node("n"), node("n"), Action.UPDATE_NODE_TAINT, False, id="was free before"
        ),
        pytest.param(NodeUnschedulable, pod("p"), None, CLOSED, Action.ADD, False, id="cordoned, comes"),
        pytest.param(NodeUnschedulable, pod("p"), None, node("n"), Action.ADD, True, id="open, comes"),
        pytest.param(NodeUnschedulable, pod("p"), node("n"), CLOSED, Action.UPDATE_NODE_TAINT, False, id="is cordoned"),
        pytest.param(
            NodeUnschedulable, pod("p"), CLOSED, node("n"), Action.UPDATE_NODE_TAINT, True, id="is uncordoned"
        ),
        pytest.param(
            NodeUnschedulable, pod("p"), node("n"), node("n"), Action.UPDATE_NODE_TAINT, False, id="was open before"
        ),
        pytest.param(NodeName, pod("p", node_name="n"), None, node("n"), Action.ADD, True, id="the named one"),
        pytest.param(NodeName, pod("p", node_name="x"), None, node("n"), Action.ADD, False, id="not the named one"),
        pytest.param(NodePorts, PORT, None, node("n"), Action.ADD, True, id="ports of a new node"),
    ],
)
def test_after_nodes(
    kind: type[Plugin], waiting: Object, old: Object | None, new: Object, action: Action, expected: bool
) -> None:
    assert helps(kind, ClusterEvent(EventResource.NODE, action), waiting, old, new) is expected


def port(number: int, **fields: Any) -> list[Object]:
    return [container(ports=[{"containerPort": 80, "hostPort": number, **fields}])]


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(pod("o", node_name="n", containers=port(80)), True, id="the same port"),
        pytest.param(pod("o", node_name="n", containers=port(81)), False, id="another port"),
        pytest.param(pod("o", node_name="n", containers=port(80, protocol="UDP")), False, id="another protocol"),
        pytest.param(pod("o", node_name="n", containers=port(80, hostIP="10.0.0.1")), True, id="one address of all"),
        pytest.param(pod("o", node_name="n"), False, id="no port"),
        pytest.param(pod("o", containers=port(80)), False, id="on no node"),
        pytest.param(pod("o", containers=port(80), status={"nominatedNodeName": "n"}), True, id="nominated to a node"),
    ],
)
def test_ports_after_a_deletion(gone: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
    assert helps(NodePorts, event, PORT, PodInfo(gone), None) is expected


def mounting(name: str, on: str = "", namespace: str = "default", **volume: Any) -> Object:
    return pod(name, node_name=on, namespace=namespace, volumes=[{"name": "v", **volume}])


def of_claim(name: str) -> dict[str, Any]:
    return {"persistentVolumeClaim": {"claimName": name}}


def claim(name: str, namespace: str = "default") -> Object:
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": namespace}, "spec": {}}


EBS: dict[str, Any] = {"awsElasticBlockStore": {"volumeID": "a"}}
GCE: dict[str, Any] = {"gcePersistentDisk": {"pdName": "a"}}
RBD = {"rbd": {"monitors": ["a", "b"], "pool": "foo", "image": "bar"}}
ISCSI = {"iscsi": {"targetPortal": "127.0.0.1:3260", "iqn": "iqn.2016", "lun": 0}}


@pytest.mark.parametrize(
    ("waiting", "gone", "expected"),
    [
        pytest.param(GCE, GCE, True, id="the same GCE disk"),
        pytest.param(GCE, {"gcePersistentDisk": {"pdName": "b"}}, False, id="another GCE disk"),
        pytest.param(EBS, EBS, True, id="the same EBS disk"),
        pytest.param(EBS, {"awsElasticBlockStore": {"volumeID": "b"}}, False, id="another EBS disk"),
        pytest.param(RBD, RBD, True, id="the same RBD image"),
        pytest.param(RBD, {"rbd": {**RBD["rbd"], "monitors": ["c"]}}, False, id="another Ceph cluster"),
        pytest.param(ISCSI, ISCSI, True, id="the same iSCSI target"),
        pytest.param(ISCSI, {"iscsi": {**ISCSI["iscsi"], "iqn": "iqn.2017"}}, False, id="another iSCSI target"),
        pytest.param(of_claim("a"), of_claim("a"), True, id="the same claim"),
        pytest.param(of_claim("a"), of_claim("b"), False, id="another claim"),
    ],
)
def test_restrictions_after_a_deletion(waiting: dict[str, Any], gone: dict[str, Any], expected: bool) -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
    old = PodInfo(mounting("o", on="n", **gone))
    assert helps(VolumeRestrictions, event, mounting("p", **waiting), old, None) is expected


def test_restrictions_are_of_one_namespace_and_of_new_claims() -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
    elsewhere = PodInfo(mounting("o", on="n", namespace="x", **GCE))
    assert not helps(VolumeRestrictions, event, mounting("p", **GCE), elsewhere, None)
    changed = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, Action.UPDATE)
    waiting = mounting("p", **of_claim("a"))
    assert not helps(VolumeRestrictions, changed, waiting, claim("a"), claim("a"))
    assert helps(VolumeBinding, changed, waiting, claim("a"), claim("a"))


@pytest.mark.parametrize("kind", [VolumeRestrictions, VolumeBinding, VolumeZone, NodeVolumeLimits])
@pytest.mark.parametrize(
    ("waiting", "new", "expected"),
    [
        pytest.param(mounting("p", **of_claim("a")), claim("a"), True, id="its claim"),
        pytest.param(mounting("p", **of_claim("a")), claim("b"), False, id="another claim"),
        pytest.param(mounting("p", **of_claim("a")), claim("a", "x"), False, id="in another namespace"),
        pytest.param(mounting("p", ephemeral={"volumeClaimTemplate": {}}), claim("p-v"), True, id="its ephemeral one"),
        pytest.param(pod("p"), claim("a"), False, id="no volumes"),
    ],
)
def test_after_claims(kind: type[Plugin], waiting: Object, new: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD)
    assert helps(kind, event, waiting, None, new) is expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(mounting("o", on="n", **of_claim("a")), True, id="a claim"),
        pytest.param(mounting("o", on="n", **EBS), True, id="a disk that a driver attaches"),
        pytest.param(pod("o", node_name="n"), False, id="no volume"),
        pytest.param(mounting("o", on="n", emptyDir={}), False, id="nothing attached"),
        pytest.param(mounting("o", **of_claim("a")), False, id="on no node"),
        pytest.param(
            {**mounting("o", **of_claim("a")), "status": {"nominatedNodeName": "n"}}, True, id="nominated to a node"
        ),
    ],
)
def test_limits_after_a_deletion(gone: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
    assert helps(NodeVolumeLimits, event, mounting("p", **of_claim("a")), PodInfo(gone), None) is expected


BY_NAME = {"spec": {"source": {"persistentVolumeName": "pv"}}}
INLINE = {"spec": {"attacher": "ebs.csi.aws.com", "source": {"persistentVolumeName": "pv"}}}


@pytest.mark.parametrize(
    ("waiting", "attachment", "expected"),
    [
        pytest.param(mounting("p", **of_claim("a")), BY_NAME, True, id="a claim"),
        pytest.param(mounting("p", **EBS), INLINE, True, id="a disk of the driver"),
        pytest.param(mounting("p", **GCE), INLINE, False, id="a disk of another driver"),
        pytest.param(pod("p"), BY_NAME, False, id="no volume"),
    ],
)
def test_limits_after_a_detachment(waiting: Object, attachment: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.VOLUME_ATTACHMENT, Action.DELETE)
    assert helps(NodeVolumeLimits, event, waiting, attachment, None) is expected


def csi_node(annotation: str = "", **counts: int | None) -> Object:
    drivers = [{"name": name, "allocatable": {"count": count}} for name, count in counts.items()]
    marked = {"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": annotation}} if annotation else {}
    return {"metadata": {"name": "n", **marked}, "spec": {"drivers": drivers}}


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        pytest.param(NodeVolumeLimits, None, csi_node(ebs=1), True, id="a driver comes"),
        pytest.param(NodeVolumeLimits, None, csi_node(), True, id="a node without drivers comes"),
        pytest.param(NodeVolumeLimits, csi_node(ebs=1), csi_node(ebs=2), True, id="a driver attaches more"),
        pytest.param(NodeVolumeLimits, csi_node(ebs=2), csi_node(ebs=1), False, id="a driver attaches less"),
        pytest.param(NodeVolumeLimits, csi_node(ebs=1), csi_node(ebs=1), False, id="as before"),
        pytest.param(VolumeBinding, None, csi_node(), True, id="a node comes"),
        pytest.param(VolumeBinding, csi_node("a"), csi_node("a,b"), True, id="a plugin migrates"),
        pytest.param(VolumeBinding, csi_node("a"), csi_node("a", ebs=1), False, id="no plugin migrates"),
    ],
)
def test_after_csi_nodes(kind: type[Plugin], old: Object | None, new: Object, expected: bool) -> None:
    event = ClusterEvent(EventResource.CSI_NODE, Action.ADD if old is None else Action.UPDATE)
    assert helps(kind, event, mounting("p", **of_claim("a")), old, new) is expected


def capacity(**fields: str) -> Object:
    return {"metadata": {"name": "c"}, "storageClassName": "fast", **fields}


def storage_class(*zones: str, mode: str = "WaitForFirstConsumer") -> Object:
    terms = [{"matchLabelExpressions": [{"key": "zone", "values": list(zones)}]}] if zones else []
    return {"metadata": {"name": "fast"}, "volumeBindingMode": mode, "allowedTopologies": terms}


def csi_driver(checked: bool) -> Object:
    return {"metadata": {"name": "x.csi"}, "spec": {"storageCapacity": checked}}


CSI = mounting("p", csi={"driver": "x.csi"})


@pytest.mark.parametrize(
    ("kind", "resource", "waiting", "old", "new", "expected"),
    [
        pytest.param(
            VolumeBinding, "CSIStorageCapacity", CSI, None, capacity(capacity="1Gi"), True, id="a capacity comes"
        ),
        pytest.param(
            VolumeBinding,
            "CSIStorageCapacity",
            CSI,
            capacity(capacity="1Gi"),
            capacity(capacity="2Gi"),
            True,
            id="more capacity",
        ),
        pytest.param(
            VolumeBinding,
            "CSIStorageCapacity",
            CSI,
            capacity(capacity="2Gi"),
            capacity(capacity="1Gi"),
            False,
            id="less capacity",
        ),
        pytest.param(
            VolumeBinding,
            "CSIStorageCapacity",
            CSI,
            capacity(capacity="9Gi", maximumVolumeSize="1Gi"),
            capacity(capacity="9Gi", maximumVolumeSize="2Gi"),
            True,
            id="larger volumes",
        ),
        pytest.param(VolumeBinding, "StorageClass", CSI, None, storage_class(), True, id="a class comes"),
        pytest.param(
            VolumeBinding, "StorageClass", CSI, storage_class("a"), storage_class("a", "b"), True, id="other topologies"
        ),
        pytest.param(
            VolumeBinding, "StorageClass", CSI, storage_class("a"), storage_class("a"), False, id="same topologies"
        ),
        pytest.param(
            VolumeBinding, "CSIDriver", CSI, csi_driver(True), csi_driver(False), True, id="no longer checked"
        ),
        pytest.param(VolumeBinding, "CSIDriver", CSI, csi_driver(False), csi_driver(True), False, id="now checked"),
        pytest.param(
            VolumeBinding, "CSIDriver", pod("p"), csi_driver(True), csi_driver(False), False, id="another driver"
        ),
        pytest.param(VolumeZone, "StorageClass", CSI, None, storage_class(), True, id="a class that waits"),
        pytest.param(
            VolumeZone, "StorageClass", CSI, None, storage_class(mode="Immediate"), False, id="a class that does not"
        ),
    ],
)
def test_after_storage(
    kind: type[Plugin], resource: str, waiting: Object, old: Object | None, new: Object, expected: bool
) -> None:
    event = ClusterEvent(EventResource(resource), Action.ADD if old is None else Action.UPDATE)
    assert helps(kind, event, waiting, old, new) is expected
